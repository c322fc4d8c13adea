/** The buttons of a view, which differ only in their labels. */
import { element } from './element.ts';

export const actions = (labels: string[], clicks: (() => void)[], focused?: number): HTMLElement =>
  element(
    'div',
    { class: 'actions' },
    ...labels.map((label, index) => element('button', { click: clicks[index], autofocus: index === focused }, label)),
  );
