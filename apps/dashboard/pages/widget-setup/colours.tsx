/** The colours of the banner, and where they have too little contrast. */
import { useEffect, useState } from 'preact/hooks';
import { type ColourName, colourLabels, colourNames, defaultColours, isColour } from './draft/colours.ts';
import { type ContrastTrouble, contrastTroubles, hexOf, unmeasured } from './draft/contrast.ts';
import { Group, type PartProps } from './group.tsx';

export function Colours({ draft, change }: PartProps) {
  const { colors = {}, theme } = draft;
  const troubles = contrastTroubles(draft);
  const unknown = unmeasured(draft);
  const choose = (name: ColourName, value: string) => {
    const { [name]: _, ...others } = colors;
    change({ colors: value === '' ? others : { ...others, [name]: value } });
  };
  return (
    <Group title="Colours" note={troubles.length > 0 && <span class="widget-warn">too little contrast</span>}>
      <p class="hint">
        {theme === undefined
          ? 'Visitors with a dark screen get a dark banner. A colour that you choose here is used in both.'
          : `The banner is always ${theme}.`}
      </p>
      {colourNames.map((name) => (
        <Colour
          key={name}
          name={name}
          value={colors[name]}
          placeholder={defaultColours[theme ?? 'light'][name]}
          troubles={troubles.filter(({ at }) => at === name)}
          isUnknown={unknown.includes(name)}
          isBoth={theme === undefined}
          onChoose={(value) => choose(name, value)}
        />
      ))}
    </Group>
  );
}

interface Props {
  name: ColourName;
  value: string | undefined;
  placeholder: string;
  troubles: ContrastTrouble[];
  isUnknown: boolean;
  /** the banner is light for some visitors and dark for others */
  isBoth: boolean;
  /** empty: the widget's own */
  onChoose(value: string): void;
}

function Colour({ name, value = '', placeholder, troubles, isUnknown, isBoth, onChoose }: Props) {
  const [typed, setTyped] = useState(value);
  // chosen otherwise
  useEffect(() => setTyped(value), [value]);
  const isWrong = typed !== '' && !isColour(typed.trim());
  const note = `widget-colour-${name}`;
  return (
    <div class="widget-colour">
      <label for={`${note}-text`}>{colourLabels[name]}</label>
      <div class="widget-row">
        <input
          type="color"
          aria-label={`${colourLabels[name]}, picked`}
          value={hexOf(value) ?? hexOf(placeholder)}
          onInput={({ currentTarget }) => onChoose(currentTarget.value)}
        />
        <input
          type="text"
          id={`${note}-text`}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          aria-invalid={isWrong}
          aria-describedby={note}
          value={typed}
          onInput={({ currentTarget }) => {
            const text = currentTarget.value;
            setTyped(text);
            if (text.trim() === '' || isColour(text.trim())) onChoose(text.trim());
          }}
        />
        {value !== '' && (
          <button type="button" class="button quiet" onClick={() => onChoose('')}>
            Reset<span class="hidden"> {colourLabels[name]}</span>
          </button>
        )}
      </div>
      <div id={note} class="widget-troubles" aria-live="polite">
        {isWrong && <p class="field-note">Not a colour. Write it like #0b5d4b.</p>}
        {isUnknown && <p class="hint">Contrast is checked for colours like #0b5d4b only.</p>}
        {troubles.map((trouble) => (
          <Trouble key={trouble.scheme + trouble.name} trouble={trouble} />
        ))}
        {isBoth && troubles.some(({ isHalfChosen }) => isHalfChosen) && (
          <p class="hint">
            Colours that you leave out differ between light and dark. Choose them too, or one theme under “Position and
            theme”.
          </p>
        )}
      </div>
    </div>
  );
}

const schemeNames = { light: 'Light', dark: 'Dark' };

const Trouble = ({ trouble: { scheme, name, ratio, least } }: { trouble: ContrastTrouble }) => (
  <p class="field-note">
    {schemeNames[scheme]}: {name} {ratio.toFixed(2)} : 1, at least {least} : 1 is needed.
  </p>
);
