/** What is kept of a body that breaks its rules. What still breaks one afterwards is what decides. */
import type { Given, Rules } from './body-rules.ts';
import { isMap, isMapField } from './body-rules.ts';
import { mapLimits } from './contract.ts';
import { type LeftOut, leaveOut } from './left-out.ts';
import { mend, withWords } from './mend.ts';

/** Null is absence, in every field and in maps; an empty list is how PHP writes an empty map. */
export function withoutAbsent(given: Given, fields: readonly string[]): Given {
  const present: Given = {};
  for (const field of fields) {
    const value = given[field];
    if (value !== null && value !== undefined) present[field] = isMapField(field) ? withoutNulls(value) : value;
  }
  return present;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return {};
  if (!isMap(value) || !Object.values(value).includes(null)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
}

/** `decides`: the fields that are kept as they are; `origin`: of the page, by the request's header. */
export function keepWhatHolds(
  present: Given,
  rules: Pick<Rules, 'whyBroken'>,
  { decides, origin }: { decides: readonly string[]; origin?: string | undefined },
): { kept: Given; leftOut: LeftOut[] } {
  const kept: Given = {};
  const leftOut: LeftOut[] = [];
  for (const [field, sent] of Object.entries(present)) {
    const value = field === 'preferences' ? withWords(sent) : mend(field, sent, origin);
    const why = decides.includes(field) ? undefined : rules.whyBroken(field, value);
    if (why === undefined) kept[field] = value;
    else if (isMapField(field) && isMap(value) && Object.keys(value).length <= mapLimits[field]) {
      const entries = entriesThatHold(field, value, rules);
      leftOut.push(...entries.leftOut);
      const whyNot = rules.whyBroken(field, entries.kept);
      if (whyNot === undefined) kept[field] = entries.kept;
      else leftOut.push(leaveOut(field, whyNot, sent));
    } else leftOut.push(leaveOut(field, why, sent));
  }
  return { kept, leftOut };
}

function entriesThatHold(field: string, map: Given, rules: Pick<Rules, 'whyBroken'>) {
  const kept: [string, unknown][] = [];
  const leftOut: LeftOut[] = [];
  for (const [name, value] of Object.entries(map)) {
    const why = rules.whyBroken(field, Object.fromEntries([[name, value]]));
    if (why === undefined) kept.push([name, value]);
    else leftOut.push(leaveOut(`${field}.${name}`, why, value));
  }
  return { kept: Object.fromEntries(kept), leftOut };
}
