/** The position and theme of the banner. */
import { Group, type LookProps } from './group.tsx';
import { Options } from './options.tsx';

const themes = { auto: 'As the visitor’s screen', light: 'Light', dark: 'Dark' };
const positions = { bottom: 'Bottom', left: 'Bottom left', right: 'Bottom right', center: 'Centre' };
const buttons = { left: 'Left', right: 'Right', none: 'None' };

export function PositionAndTheme({ look, below, change }: LookProps) {
  const { position = 'bottom', theme = 'auto', button = 'left', radius = '14px' } = { ...below, ...look };
  return (
    <Group title="Position and theme">
      <Options
        label="Position of the banner"
        options={positions}
        chosen={position}
        onChoose={(value) => change({ position: value })}
        note="On phones it is always at the bottom."
      />
      <Options label="Theme" options={themes} chosen={theme} onChoose={(value) => change({ theme: value })} />
      <label>
        Rounded corners, in pixels
        <input
          type="number"
          min={0}
          max={40}
          value={Number.parseFloat(radius)}
          onInput={({ currentTarget: { valueAsNumber, validity } }) => {
            if (validity.valid && Number.isInteger(valueAsNumber)) change({ radius: `${valueAsNumber}px` });
          }}
        />
      </label>
      <Options
        label="Floating privacy button"
        options={buttons}
        chosen={button}
        onChoose={(value) => change({ button: value })}
        {...(button === 'none' && {
          note: 'Visitors must be able to change their mind: link to the settings yourself, with assent.open().',
        })}
      />
    </Group>
  );
}
