import type { WidgetConfig } from './config.ts';

/** Whether visitors who made their choice under `live` are asked again under `settings`. */
export const asksAgain = (settings: WidgetConfig, live: WidgetConfig): boolean => termsOf(settings) !== termsOf(live);

const termsOf = ({ policyVersion, categories = 'analytics marketing' }: WidgetConfig): string => {
  const all = typeof categories === 'string' ? categories.split(/[\s,]+/).filter((id) => id !== '') : categories;
  const asked = all.flatMap((each) => {
    const { id, required } = typeof each === 'string' ? { id: each } : each;
    return required || id === 'necessary' ? [] : [id];
  });
  return JSON.stringify([`${policyVersion ?? ''}`, [...new Set(asked)].sort()]);
};
