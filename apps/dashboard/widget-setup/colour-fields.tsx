/** The colours of the banner, and warnings about too little contrast. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import {
  type ColourName,
  colourLabels,
  colourNames,
  colourTrouble,
  defaultColours,
  type Scheme,
} from './draft/colours.ts';
import { contrastTroubles, contrastWarning, hexOf, onlyScheme, unmeasured } from './draft/contrast.ts';
import { appearanceOver } from './draft/draft.ts';
import { Group, type LookProps } from './group.tsx';
import { Options } from './options.tsx';

export function Colours({ look, below, change, onShow }: ContrastProps) {
  const shown = appearanceOver(below, look);
  const theme = onlyScheme(shown);
  const [chosen, setChosen] = useState<Scheme>(theme ?? 'light');
  // the first list applies to both schemes
  const scheme = theme === 'light' ? theme : chosen;
  const group = scheme === 'dark' ? 'darkColors' : 'colors';
  const colors = look[group] ?? {};
  const unknown = unmeasured(colors);
  const choose = (name: ColourName, value: string) => {
    const { [name]: _, ...others } = colors;
    change({ [group]: value === '' ? others : { ...others, [name]: value } });
  };
  return (
    <Group title="Colours" note={contrastWarning(shown) && <span class="field-note">too little contrast</span>}>
      {theme === 'light' ? (
        <p class="hint">The banner is always light.</p>
      ) : (
        <Options
          label="Colours of"
          options={{ light: 'Light banner', dark: 'Dark banner' }}
          chosen={scheme}
          onChoose={(value) => {
            setChosen(value);
            onShow(value);
          }}
          note={
            scheme === 'dark'
              ? 'For dark screens only. A field that you leave empty has the colour of the light banner, if you chose one.'
              : 'Also for dark screens, unless you choose another colour for the dark banner.'
          }
        />
      )}
      <div class="stack gap-10 gone-if-empty" aria-live="polite">
        <ContrastWarning look={look} below={below} change={change} onShow={onShow} />
      </div>
      {colourNames.map((name) => (
        <Colour
          key={scheme + name}
          name={name}
          value={colors[name]}
          placeholder={below[group]?.[name] ?? shown.colors?.[name] ?? defaultColours[scheme][name]}
          isUnknown={unknown.includes(name)}
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
  isUnknown: boolean;
  /** empty: the widget's own colour */
  onChoose(value: string): void;
}

function Colour({ name, value = '', placeholder, isUnknown, onChoose }: Props) {
  const [typed, setTyped] = useState(value);
  // a colour that is not in the palette
  useEffect(() => setTyped(value), [value]);
  const trouble = typed.trim() === '' ? undefined : troubleOf(name, typed.trim());
  const note = `widget-colour-${name}`;
  return (
    <div class="stack gap-4 widget-colour">
      <label for={`${note}-text`}>{colourLabels[name]}</label>
      <div class="cluster bottom widget-row">
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
          aria-invalid={trouble !== undefined}
          aria-describedby={note}
          value={typed}
          onInput={({ currentTarget }) => {
            const text = currentTarget.value;
            setTyped(text);
            if (text.trim() === '' || !troubleOf(name, text.trim())) onChoose(text.trim());
          }}
        />
        {value !== '' && (
          <Button kind="quiet" onClick={() => onChoose('')}>
            Reset<span class="hidden"> {colourLabels[name]}</span>
          </Button>
        )}
      </div>
      <div id={note} class="stack gap-10 gone-if-empty" aria-live="polite">
        {trouble && <p class="field-note">{trouble}</p>}
        {isUnknown && !trouble && <p class="hint">Contrast is checked for colours like #0b5d4b only.</p>}
      </div>
    </div>
  );
}

/** Accepts colours that this browser does not know. */
const troubleOf = (name: ColourName, text: string): string | undefined =>
  colourTrouble(name, text) ?? (CSS.supports('color', text) ? undefined : 'Not a colour.');

interface ContrastProps extends LookProps {
  /** shows it in the preview */
  onShow(scheme: 'light' | 'dark'): void;
}

const schemeNames = { light: 'Light', dark: 'Dark' };

/** A warning about two colours with too little contrast, with a remedy and the ratios. */
function ContrastWarning({ look, below, change, onShow }: ContrastProps) {
  const shown = appearanceOver(below, look);
  const warning = contrastWarning(shown);
  if (!warning) return null;
  const { sentence, wayOut } = warning;
  const troubles = contrastTroubles(shown);
  const broken = wayOut === 'light' ? 'dark' : 'light';
  return (
    <>
      <p class="notice notice-bad">{sentence}</p>
      {wayOut && (
        <div class="actions">
          <Button
            onClick={({ currentTarget }) => {
              // the button disappears then
              currentTarget.closest('.widget-group')?.querySelector('summary')?.focus();
              change({ theme: wayOut });
            }}
          >
            Always use the {wayOut} banner
          </Button>
          <Button onClick={() => onShow(broken)}>Show in {broken}</Button>
        </div>
      )}
      <details class="explain">
        <summary>Where the contrast is too low</summary>
        <ul class="stack gap-4 small widget-ratios">
          {troubles.map(({ scheme, name, ratio, least }) => (
            <li key={scheme + name}>
              {schemeNames[scheme]}: {name} {ratio.toFixed(2)} : 1, at least {least} : 1 is needed.
            </li>
          ))}
        </ul>
        {wayOut && troubles.some(({ isHalfChosen }) => isHalfChosen) && (
          <p>Colours that you leave out differ between light and dark. Choose them too, or one theme.</p>
        )}
      </details>
    </>
  );
}
