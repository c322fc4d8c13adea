/** The first view: the introduction and three buttons. */
import type { Choice } from '../consent.ts';
import type { Notice } from '../notice.ts';
import { actions } from './actions.ts';
import { element } from './element.ts';
import { intro } from './intro.ts';

export interface BannerActions {
  decide(choice: Choice): void;
  customise(): void;
}

export function banner(notice: Notice, { decide, customise }: BannerActions): HTMLElement[] {
  const clicks = [() => decide(true), () => decide(false), customise];
  // with Global Privacy Control the rejection is chosen in advance
  return [
    element('h2', { id: 'title' }, notice.title),
    ...intro(notice),
    actions(notice.buttons, clicks, notice.note ? 1 : undefined),
  ];
}
