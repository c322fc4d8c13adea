import { orElse } from './attempt.ts';
import { own } from './tamper-proof.ts';

/** Fills in each `{name}` that occurs exactly once. */
export function fill(text: string, values: Record<string, string>): string {
  let filled = text;
  for (const name in own(values)) {
    const parts = orElse(() => filled.split(`{${name}}`), []);
    if (parts.length === 2) filled = `${parts[0]}${values[name]}${parts[1]}`;
  }
  return filled;
}
