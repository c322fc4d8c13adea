/** The first view: what it is about, and three buttons that differ in nothing but their words. */
import type { Settings } from '../settings.ts';
import { about } from './about.ts';
import { element } from './element.ts';

export interface BannerActions {
  accept(): void;
  reject(): void;
  customise(): void;
}

export function banner(settings: Settings, gpc: boolean, actions: BannerActions): HTMLElement[] {
  const { texts } = settings.wording;
  return [
    element('h2', { id: 'title' }, texts.title),
    ...about(settings, gpc),
    element(
      'div',
      { class: 'actions' },
      element('button', { type: 'button', click: actions.accept }, texts.accept),
      element('button', { type: 'button', click: actions.reject, autofocus: gpc }, texts.reject),
      element('button', { type: 'button', click: actions.customise }, texts.customise),
    ),
  ];
}
