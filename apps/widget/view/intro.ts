/** The introduction and links at the beginning of both views. */
import type { Settings } from '../settings.ts';
import { element } from './element.ts';

export function intro({ wording, links }: Settings, gpc: boolean): HTMLElement[] {
  const text = element('p', { id: 'intro' }, wording.texts.intro);
  for (const { label, href } of links) text.append(' ', element('a', { href }, label));
  return gpc ? [text, element('p', { class: 'note' }, wording.texts.gpc)] : [text];
}
