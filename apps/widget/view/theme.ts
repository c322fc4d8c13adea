/** Whether the widget is dark: by the scheme of the page or the system. */

import { has, words } from '#libs/widget/plain';
import { page } from '../page.ts';

export const media = matchMedia('(prefers-color-scheme: dark)');

/** `auto`: as the page is, where it has one scheme alone, else as the visitor's system is. */
export function isDark(theme: 'auto' | 'light' | 'dark'): boolean {
  const { colorScheme } = getComputedStyle(page.documentElement);
  const meta = page.querySelector<HTMLMetaElement>('meta[name=color-scheme]')?.content;
  const schemes = words(theme !== 'auto' ? theme : colorScheme === 'normal' ? (meta ?? '') : colorScheme);
  const dark = has(schemes, 'dark');
  return dark === has(schemes, 'light') ? media.matches : dark;
}
