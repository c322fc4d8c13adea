/** Where the banner stands, and whether it is light or dark. */
import { Group, type PartProps } from './group.tsx';
import { Options } from './options.tsx';

const themes = { auto: 'As the visitor’s screen', light: 'Light', dark: 'Dark' };
const positions = { bottom: 'Bottom', left: 'Bottom left', right: 'Bottom right', center: 'Centre' };
const buttons = { left: 'Left', right: 'Right', none: 'None' };

export const PositionAndTheme = ({ draft, change }: PartProps) => (
  <Group title="Position and theme">
    <Options
      label="Position of the banner"
      options={positions}
      chosen={draft.position ?? 'bottom'}
      onChoose={(value) => change({ position: value === 'bottom' ? undefined : value })}
      note="On phones it is always at the bottom."
    />
    <Options
      label="Theme"
      options={themes}
      chosen={draft.theme ?? 'auto'}
      onChoose={(value) => change({ theme: value === 'auto' ? undefined : value })}
    />
    <Options
      label="Button that stays"
      options={buttons}
      chosen={draft.button ?? 'left'}
      onChoose={(value) => change({ button: value === 'left' ? undefined : value })}
      {...(draft.button === 'none' && {
        note: 'Visitors must be able to change their mind: link to the settings yourself, with assent.open().',
      })}
    />
  </Group>
);
