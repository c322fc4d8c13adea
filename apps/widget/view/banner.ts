/** The first view: what it is about, and three buttons that differ in nothing but their words. */
import type { Settings } from '../settings.ts';
import { element } from './element.ts';

export interface BannerActions {
  accept(): void;
  reject(): void;
  customise(): void;
}

export function banner({ wording, links }: Settings, gpc: boolean, actions: BannerActions): HTMLElement[] {
  const { texts } = wording;
  const intro = element('p', { id: 'intro' }, texts.intro);
  for (const { label, href } of links) intro.append(' ', element('a', { href }, label));
  return [
    element('h2', { id: 'title' }, texts.title),
    intro,
    ...(gpc ? [element('p', { class: 'note' }, texts.gpc)] : []),
    element(
      'div',
      { class: 'actions' },
      element('button', { type: 'button', click: actions.accept }, texts.accept),
      element('button', { type: 'button', click: actions.reject, autofocus: gpc }, texts.reject),
      element('button', { type: 'button', click: actions.customise }, texts.customise),
    ),
  ];
}
