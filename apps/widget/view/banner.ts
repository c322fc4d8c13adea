/** The first view, and what it has in common with the second: the introduction and buttons. */

import type { Notice } from '#libs/widget/notice';
import { map } from '#libs/widget/tamper-proof';
import type { Choice } from '../consent.ts';
import { type Children, element } from './element.ts';

/** `third`: what the third button does. */
export function banner(notice: Notice, decide: (choice: Choice) => void, third: () => void): Children {
  const clicks = [() => decide(true), () => decide(false), third];
  // with Global Privacy Control the rejection is chosen in advance
  return [
    element('h2', { id: 'title' }, notice.title),
    intro(notice),
    notice.asks ? element('p', { class: 'asks' }, notice.asks) : [],
    actions(notice.buttons, clicks, notice.note ? 1 : undefined),
  ];
}

/** With the links. */
export function intro({ intro: introduction, links, note }: Pick<Notice, 'intro' | 'links' | 'note'>): HTMLElement[] {
  const text = element('p', { id: 'intro' }, introduction);
  map(links, ({ label, href }) => text.append(' ', element('a', { href }, label)));
  return note ? [text, element('p', { class: 'note' }, note)] : [text];
}

/** The buttons of a view, which differ only in their labels. */
export const actions = (labels: string[], clicks: (() => void)[], focused?: number): HTMLElement =>
  element(
    'div',
    { class: 'actions' },
    map(labels, (label, index) =>
      element('button', { click: clicks[index], class: index === focused && 'first' }, label),
    ),
  );
