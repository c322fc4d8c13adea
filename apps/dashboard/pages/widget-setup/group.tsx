/** A part of the form, which folds. */
import type { ComponentChildren } from 'preact';
import type { WidgetChange, WidgetDraft } from './draft/draft.ts';

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

export const Group = ({ title, isOpen = false, note, children }: Props) => (
  <details class="widget-group" open={isOpen}>
    <summary>
      <h2>{title}</h2>
      {note}
    </summary>
    <div class="widget-group-body">{children}</div>
  </details>
);
