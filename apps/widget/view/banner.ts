/** The first view: what it is about, and three buttons that differ in nothing but their words. */
import type { Choice } from '../consent.ts';
import type { Settings } from '../settings.ts';
import { about } from './about.ts';
import { element } from './element.ts';

export interface BannerActions {
  decide(choice: Choice): void;
  customise(): void;
}

export function banner(settings: Settings, gpc: boolean, { decide, customise }: BannerActions): HTMLElement[] {
  const { texts } = settings.wording;
  return [
    element('h2', { id: 'title' }, texts.title),
    ...about(settings, gpc),
    element(
      'div',
      { class: 'actions' },
      element('button', { click: () => decide(true) }, texts.accept),
      element('button', { click: () => decide(false), autofocus: gpc }, texts.reject),
      element('button', { click: customise }, texts.customise),
    ),
  ];
}
