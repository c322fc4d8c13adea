/** Where a page takes scripts from policies alone (`require-trusted-types-for`), ours is called `assent`. */
import { either } from '#libs/widget/attempt';

const same = (text: string): string => text;
const rules = { createHTML: same, createScript: same, createScriptURL: same };
let policy: typeof rules | undefined;

/** What is used in place of a script's address or text, or of markup. Where there is no policy, texts stay texts. */
export function trusted(text: string, create: keyof typeof rules = 'createScriptURL'): string {
  // once, since a page may not take a second one of that name
  policy ??= either(() => window.trustedTypes?.createPolicy('assent', rules)) ?? rules;
  return policy[create](text);
}
