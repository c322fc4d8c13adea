/** The first view, and the introduction and buttons that the second view shares. */
import type { Notice } from '#libs/widget/notice';
import { map } from '#libs/widget/tamper-proof';
import type { Choice } from '../consent.ts';
import { type Children, element } from './element.ts';

/** `third`: what the third button does. */
export function banner(notice: Notice, decide: (choice: Choice) => void, third: () => void): Children {
  const clicks = [() => decide(true), () => decide(false), third];
  // with Global Privacy Control, the rejection has the focus
  return [
    element('h2', { id: 'title' }, notice.title),
    intro(notice),
    notice.asks ? element('p', { class: 'asks' }, notice.asks) : [],
    actions(notice.buttons, clicks, notice.note ? 1 : undefined),
  ];
}

/** The introduction with its links, and the note. */
export function intro({ intro: introduction, links, note }: Pick<Notice, 'intro' | 'links' | 'note'>): HTMLElement[] {
  const text = element('p', { id: 'intro' }, introduction);
  map(links, ({ label, href }) => text.append(' ', element('a', { href }, label)));
  return note ? [text, element('p', { class: 'note' }, note)] : [text];
}

/** The buttons of a view. All look the same, so that none is favoured. */
export const actions = (labels: string[], clicks: (() => void)[], focused?: number): HTMLElement =>
  element(
    'div',
    { class: 'actions' },
    map(labels, (label, index) =>
      element('button', { click: clicks[index], class: index === focused && 'first' }, label),
    ),
  );
