import type { ComponentChildren } from 'preact';

interface Props {
  type?: 'checkbox' | 'radio';
  name?: string;
  checked: boolean;
  disabled?: boolean | undefined;
  onChange?(isOn: boolean): void;
  children: ComponentChildren;
}

/** A checkbox or radio button with its label. */
export const Check = ({ onChange, children, ...given }: Props) => (
  <label class="check">
    <input type="checkbox" {...given} onChange={(event) => onChange?.(event.currentTarget.checked)} />
    {children}
  </label>
);
