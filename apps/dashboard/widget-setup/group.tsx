/** A part of the form, which folds. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import { withStorage } from '../data/storage.ts';
import type { Look, LookChange, WidgetChange, WidgetDraft } from './draft/draft.ts';

/** What every part of the form is handed. */
export interface PartProps {
  draft: WidgetDraft;
  change(change: WidgetChange): void;
}

/** What the parts are handed that say how the banner, or a variant of it, looks and reads. */
export interface LookProps {
  look: Look;
  /** the banner that it is a variant of */
  below: Look;
  change(change: LookChange): void;
}

interface Props {
  title: string;
  isOpen?: boolean;
  /** beside the title, also while it is folded */
  note?: ComponentChildren;
  children: ComponentChildren;
}

export function Group({ title, isOpen = false, note, children }: Props) {
  const [opensAs] = useState(() => wasUnfolded(title) ?? isOpen);
  return (
    <details
      class="widget-group"
      open={opensAs}
      onToggle={({ currentTarget }) => keepUnfolded(title, currentTarget.open)}
    >
      <summary class="cluster">
        <h2>{title}</h2>
        {note}
      </summary>
      <div class="stack gap-14 widget-group-body">{children}</div>
    </details>
  );
}

type TextProps = InputHTMLAttributes & {
  label: string;
  onText(text: string): void;
  /** what is wrong with the text; empty or absent otherwise */
  error?: string;
  /** what it takes */
  children?: ComponentChildren;
};

/** A field for one line. */
export function TextInput({ label, onText, error = '', children, ...given }: TextProps) {
  const id = useId();
  const note = error || children;
  return (
    <div class="stack gap-4">
      <label>
        {label}
        <input
          type="text"
          aria-invalid={error !== ''}
          aria-describedby={note ? id : undefined}
          {...given}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      {note && (
        <p class={error ? 'field-note' : 'hint'} id={id}>
          {note}
        </p>
      )}
    </div>
  );
}

const keyOf = (title: string): string => `assent-widget-unfolded ${title}`;

/** Undefined where the part was never touched. */
function wasUnfolded(title: string): boolean | undefined {
  const kept = withStorage((storage) => storage.getItem(keyOf(title)));
  return kept ? kept === 'yes' : undefined;
}

function keepUnfolded(title: string, isOpen: boolean): void {
  withStorage((storage) => storage.setItem(keyOf(title), isOpen ? 'yes' : 'no'));
}
