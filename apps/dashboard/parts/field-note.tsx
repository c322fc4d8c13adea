/** What a field takes, or what is wrong with what it has. */
import './field-note.css';
import type { ComponentChildren } from 'preact';

interface Props {
  id: string;
  error: string | undefined;
  children?: ComponentChildren;
}

export const FieldNote = ({ id, error, children }: Props) => (
  <div id={id}>
    {error === undefined ? (
      children && <p class="hint">{children}</p>
    ) : (
      <p class="field-note" role="alert">
        {error}
      </p>
    )}
  </div>
);
