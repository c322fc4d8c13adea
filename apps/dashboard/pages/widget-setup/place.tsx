/** Where the banner stands, and whether it is light or dark. */
import { Group, type PartProps } from './group.tsx';
import { Options } from './options.tsx';

const themes = [
  { value: 'auto', name: 'As the visitor’s screen' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
] as const;
const positions = [
  { value: 'bottom', name: 'Bottom' },
  { value: 'left', name: 'Bottom left' },
  { value: 'right', name: 'Bottom right' },
  { value: 'center', name: 'Centre' },
] as const;
const buttons = [
  { value: 'left', name: 'Left' },
  { value: 'right', name: 'Right' },
  { value: 'none', name: 'None' },
] as const;

export const Place = ({ draft, change }: PartProps) => (
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
