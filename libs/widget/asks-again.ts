import type { WidgetConfig } from './config.ts';

/** Whether the widget asks visitors who have chosen under `live` again under `settings`. */
export const asksAgain = (settings: WidgetConfig, live: WidgetConfig): boolean => termsOf(settings) !== termsOf(live);

const termsOf = ({ policyVersion, categories = 'analytics marketing' }: WidgetConfig): string => {
  const all = typeof categories === 'string' ? categories.split(/[\s,]+/).filter((id) => id !== '') : categories;
  const asked = all.flatMap((each) => {
    const { id, required } = typeof each === 'string' ? { id: each } : each;
    return required || id === 'necessary' ? [] : [id];
  });
  return JSON.stringify([`${policyVersion ?? ''}`, [...new Set(asked)].sort()]);
};
