/** JSON, whatever the page has made of it. Objects are to have no prototype, so that no `toJSON` of the page is theirs. */
import { either } from '#libs/widget/attempt';
import { page } from './page.ts';

/** A page that has nothing but the browser's own: a frame without an address, which no policy keeps out. */
function untouched(): typeof JSON {
  const frame = page.createElement('iframe');
  page.documentElement.append(frame);
  const own = (frame.contentWindow as unknown as { JSON: typeof JSON }).JSON;
  frame.remove();
  return own;
}

export const json = (value: unknown): string => either(() => JSON.stringify(value)) ?? untouched().stringify(value);
export const parsed = (text: string): unknown => either(() => JSON.parse(text)) ?? untouched().parse(text);
