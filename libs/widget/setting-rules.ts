/** Rules for the values of settings, with the messages for values that break them. */

/** `path`: a JSON pointer. */
export type Report = (path: string, message: string) => void;
export type Rule = (value: unknown, path: string, report: Report) => void;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const below = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Names that would change an object's prototype. */
export const isForbidden = (name: string): boolean => /^(__proto__|constructor|prototype)$/.test(name);

/** The service's rule for names of categories and of metadata. */
export const isKeyName = (name: string): boolean => /^[\w.:-]{1,64}$/.test(name) && !isForbidden(name);
export const keyNameRule = 'must be 1–64 of A–Z a–z 0–9 _ . : -';

export const rule =
  (isRight: (value: unknown) => boolean, message: string): Rule =>
  (value, path, report) => {
    if (!isRight(value)) report(path, message);
  };

export const text = (longest = Number.POSITIVE_INFINITY): Rule =>
  rule(
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= longest,
    Number.isFinite(longest) ? `must be a text of 1–${longest} characters` : 'must be a text that is not empty',
  );

export const matching = (pattern: RegExp, message: string): Rule =>
  rule((value) => typeof value === 'string' && pattern.test(value), message);

export const oneOf = (...values: string[]): Rule =>
  rule((value) => values.some((each) => each === value), `must be one of ${values.join(', ')}`);

export const flagRule: Rule = rule((value) => typeof value === 'boolean', 'must be true or false');

export const listOf =
  (item: Rule, most = Number.POSITIVE_INFINITY): Rule =>
  (value, path, report) => {
    if (!Array.isArray(value)) return report(path, 'must be a list');
    value.forEach((each: unknown, index) => {
      if (index < most) item(each, below(path, index), report);
      else report(below(path, index), `there may be at most ${most}`);
    });
  };

/** Calls `check` for each member, except those with forbidden names, which are reported elsewhere. */
export const entries =
  (check: (name: string, value: unknown, path: string, report: Report) => void): Rule =>
  (value, path, report) => {
    if (!isObject(value)) return report(path, 'must be an object');
    for (const [name, each] of Object.entries(value))
      if (!isForbidden(name)) check(name, each, below(path, name), report);
  };

/** An object that has no other members than these. */
export const members = (rules: Record<string, Rule>, required: string[] = [], unknown = 'is no setting here'): Rule => {
  const known = new Map(Object.entries(rules));
  const given = entries((name, each, path, report) => {
    const found = known.get(name);
    if (found) found(each, path, report);
    else report(path, unknown);
  });
  return (value, path, report) => {
    given(value, path, report);
    if (!isObject(value)) return;
    for (const name of required) if (!Object.hasOwn(value, name)) report(path, `${name} is missing`);
  };
};
