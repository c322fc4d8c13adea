/** Rules for an A/B test. */
import { below, isObject, listOf, matching, members, type Rule, rule } from './setting-rules.ts';

/** Each variant has notices of its own in every language. */
const mostVariants = 20;
/** A record's `variant` has at most 64 characters: two of these names and a colon. */
const named = matching(/^[\w.-]{1,31}$/, 'must be 1–31 of A–Z a–z 0–9 _ . -');
const shareRule = rule(
  (value) => typeof value === 'number' && value >= 0 && value <= 1e6,
  'must be a number from 0 to 1,000,000',
);

/** `settable`: what a variant may set. */
export function experimentRule(settable: Record<string, Rule>): Rule {
  const unsettable = `a variant sets ${Object.keys(settable).join(', ')} alone: how the banner looks and reads`;
  const variant = members({ name: named, share: shareRule, settings: members(settable, [], unsettable) }, ['name']);
  const shape = members({ id: named, variants: listOf(variant, mostVariants) }, ['id', 'variants']);
  return (value, path, report) => {
    shape(value, path, report);
    if (!isObject(value) || !Array.isArray(value.variants)) return;
    const variants = value.variants.map((each: unknown) => (isObject(each) ? each : {}));
    const list = below(path, 'variants');
    if (variants.every(({ share = 1 }) => share === 0)) report(list, 'needs a variant with a share above 0');
    const seen = new Set<unknown>();
    variants.forEach(({ name }, index) => {
      if (seen.has(name)) report(below(below(list, index), 'name'), 'there is another variant with this name');
      if (name !== undefined) seen.add(name);
    });
  };
}
