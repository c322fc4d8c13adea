/** A collapsible section of the form. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import { withStorage } from '../data/storage.ts';
import type { Appearance, AppearanceChange, WidgetChange, WidgetDraft } from './draft/draft.ts';

/** Props of every section of the form. */
export interface PartProps {
  draft: WidgetDraft;
  change(change: WidgetChange): void;
}

/** Props of the sections about the appearance and texts of the banner or a variant. */
export interface LookProps {
  look: Appearance;
  /** the banner, if this is a variant */
  below: Appearance;
  change(change: AppearanceChange): void;
}

interface Props {
  title: string;
  isOpen?: boolean;
  /** beside the title, even while collapsed */
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
  /** error in the text; empty or absent if there is none */
  error?: string;
  /** hint about the text */
  children?: ComponentChildren;
};

/** A single-line text field. */
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

/** Whether the section is open; undefined if it was never toggled. */
function wasUnfolded(title: string): boolean | undefined {
  const stored = withStorage((storage) => storage.getItem(keyOf(title)));
  return stored ? stored === 'yes' : undefined;
}

function keepUnfolded(title: string, isOpen: boolean): void {
  withStorage((storage) => storage.setItem(keyOf(title), isOpen ? 'yes' : 'no'));
}
