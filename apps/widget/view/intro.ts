/** The introduction and links at the beginning of both views. */
import type { Notice } from '../notice.ts';
import { element } from './element.ts';

export function intro({ intro: introduction, links, note }: Notice): HTMLElement[] {
  const text = element('p', { id: 'intro' }, introduction);
  for (const { label, href } of links) text.append(' ', element('a', { href }, label));
  return note ? [text, element('p', { class: 'note' }, note)] : [text];
}
