/** A part of the form, which folds. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { WidgetChange, WidgetDraft } from './draft/draft.ts';
import { keepUnfolded, wasUnfolded } from './unfolded.ts';

/** What every part of the form is handed. */
export interface PartProps {
  draft: WidgetDraft;
  change(change: WidgetChange): void;
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
      <summary>
        <h2>{title}</h2>
        {note}
      </summary>
      <div class="widget-group-body">{children}</div>
    </details>
  );
}
