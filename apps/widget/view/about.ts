/** What both views begin with: what it is about, and where to read more. */
import type { Settings } from '../settings.ts';
import { element } from './element.ts';

export function about({ wording, links }: Settings, gpc: boolean): HTMLElement[] {
  const intro = element('p', { id: 'intro' }, wording.texts.intro);
  for (const { label, href } of links) intro.append(' ', element('a', { href }, label));
  return gpc ? [intro, element('p', { class: 'note' }, wording.texts.gpc)] : [intro];
}
