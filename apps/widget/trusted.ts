/** For pages with `require-trusted-types-for`: the widget's policy is called `assent`. */
import { orElse } from '#libs/widget/attempt';

const same = (text: string): string => text;
const rules = { createHTML: same, createScript: same, createScriptURL: same };
let policy: typeof rules | undefined;

/** A trusted value for a script's address or text, or for markup. Without Trusted Types, the text itself. */
export function trusted(text: string, create: keyof typeof rules = 'createScriptURL'): string {
  // created once, since a page may forbid a second policy of that name
  policy ??= orElse(() => window.trustedTypes?.createPolicy('assent', rules)) ?? rules;
  return policy[create](text);
}
