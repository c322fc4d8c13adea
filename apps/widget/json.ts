/**
 * JSON that works even if the page has broken it. Pass objects without a prototype: otherwise a `toJSON` that the page has
 * added would change the result.
 */
import { orElse } from '#libs/widget/attempt';
import { page } from './page.ts';

/** The browser's own JSON, from a frame without an address, which no policy blocks. */
function untouched(): typeof JSON {
  const frame = page.createElement('iframe');
  page.documentElement.append(frame);
  const own = (frame.contentWindow as unknown as { JSON: typeof JSON }).JSON;
  frame.remove();
  return own;
}

export const json = (value: unknown): string => orElse(() => JSON.stringify(value)) ?? untouched().stringify(value);
export const parsed = (text: string): unknown => orElse(() => JSON.parse(text)) ?? untouched().parse(text);
