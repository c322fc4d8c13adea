/** The first view: the introduction and three buttons, which differ only in their labels. */
import type { Choice } from '../consent.ts';
import type { Settings } from '../settings.ts';
import { element } from './element.ts';
import { intro } from './intro.ts';

export interface BannerActions {
  decide(choice: Choice): void;
  customise(): void;
}

export function banner(settings: Settings, gpc: boolean, { decide, customise }: BannerActions): HTMLElement[] {
  const { texts } = settings.wording;
  return [
    element('h2', { id: 'title' }, texts.title),
    ...intro(settings, gpc),
    element(
      'div',
      { class: 'actions' },
      element('button', { click: () => decide(true) }, texts.accept),
      element('button', { click: () => decide(false), autofocus: gpc }, texts.reject),
      element('button', { click: customise }, texts.customise),
    ),
  ];
}
