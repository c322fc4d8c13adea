/** A button, and a link that looks like one. */
import type { ComponentChildren } from 'preact';

interface Props {
  /** emphasis; default: an ordinary button */
  kind?: 'primary' | 'quiet' | 'danger' | undefined;
  class?: string | undefined;
  /** the label, if it is plain text */
  text?: string;
  onClick?: ((event: MouseEvent & { currentTarget: HTMLElement }) => void) | undefined;
  children?: ComponentChildren;
}

interface ButtonProps extends Props {
  /** `submit` sends the form */
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
