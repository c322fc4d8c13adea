/** What is pressed, and a link that looks like it. */
import type { ComponentChildren } from 'preact';

interface Props {
  /** how much it stands out; like most, if absent */
  kind?: 'primary' | 'quiet' | 'danger' | undefined;
  class?: string | undefined;
  /** what it says, where that is text alone */
  text?: string;
  onClick?: ((event: MouseEvent & { currentTarget: HTMLElement }) => void) | undefined;
  children?: ComponentChildren;
}

interface ButtonProps extends Props {
  /** sends its form, if it is `submit` */
  type?: 'button' | 'submit';
  disabled?: boolean;
  'aria-label'?: string;
  'aria-expanded'?: boolean;
  'aria-current'?: boolean;
}

const classOf = ({ kind, class: own }: Props): string => ['button', kind, own].filter(Boolean).join(' ');

export const Button = ({ kind, class: own, text, children = text, ...given }: ButtonProps) => (
  <button type="button" {...given} class={classOf({ kind, class: own })}>
    {children}
  </button>
);

export const ButtonLink = ({ kind, class: own, text, children = text, ...given }: Props & { href: string }) => (
  <a {...given} class={classOf({ kind, class: own })}>
    {children}
  </a>
);
