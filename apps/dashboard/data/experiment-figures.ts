/** A/B tests: their variants, and the conclusions that their figures allow. */
import type { DomainStats } from '#libs/stats/contract';
import { escapeInvisible, pointsOf } from '../format.ts';
import { equalSharesP } from './equal-shares.ts';
import { optInsOf, rateIn } from './group-rows.ts';
import { type Interval, newcombe, type Proportion, wilson } from './proportions.ts';

/** choices that each variant needs before a conclusion */
const fewest = 100;
/** a smaller p means that variants were not assigned in equal shares */
const unevenBelow = 0.001;

interface Variant extends Proportion {
  name: string;
  /** undefined if none were counted */
  displays: number | undefined;
}

export interface Experiment {
  /** '' if the variants name no experiment */
  name: string;
  /** The first one is the baseline: `control`, or the first by name. */
  variants: Variant[];
}

/** Variants are `<experiment>/<name>`, `<experiment>:<name>` or plain names. Largest experiment first. */
export function experimentsOf({ groups = [] }: DomainStats): Experiment[] {
  const found = new Map<string, Variant[]>();
  for (const group of groups) {
    if (group.value === null || !('choices' in group)) continue;
    const [, experiment = '', name = group.value] = /^([^/:]*)[/:](.+)$/s.exec(group.value) ?? [];
    const variant = { name, part: optInsOf(group), all: group.choices, displays: group.displays };
    found.set(experiment, [...(found.get(experiment) ?? []), variant]);
  }
  return Array.from(found, ([name, variants]) => ({ name, variants: variants.sort(controlFirst) }));
}

const controlFirst = (one: Variant, other: Variant): number =>
  Number(other.name === 'control') - Number(one.name === 'control') || one.name.localeCompare(other.name);

export const titleOf = ({ name }: Experiment): string => (name === '' ? 'Variants' : escapeInvisible(name));

export interface Measured extends Variant {
  /** null without choices */
  rate: number | null;
  interval: Interval | null;
  /** difference to the baseline; null for the baseline itself, or if either has no choices */
  difference: { points: number; interval: Interval } | null;
}

export function measure({ variants }: Experiment): Measured[] {
  const [control] = variants;
  return variants.map((variant) => {
    const rate = rateIn(variant);
    if (rate === null) return { ...variant, rate, interval: null, difference: null };
    const controlRate = control && control !== variant ? rateIn(control) : null;
    const difference =
      control && controlRate !== null ? { points: rate - controlRate, interval: newcombe(variant, control) } : null;
    return { ...variant, rate, interval: wilson(variant), difference };
  });
}

/** A sentence for each comparison, or one that explains why there is none. */
export function conclusionOf(experiment: Experiment): string[] {
  const [control, ...others] = measure(experiment);
  if (!control || others.length === 0) return ['There is only one variant, so there is nothing to compare.'];
  if ([control, ...others].some(({ all }) => all < fewest))
    return [`Too early to tell: each variant needs at least ${fewest} choices.`];
  const first = nameOf(control);
  return others.flatMap(({ difference, ...variant }) => {
    if (!difference) return [];
    const { low, high } = difference.interval;
    if (low > 0) return `${nameOf(variant)} is better than ${first} by ${range(low, high)} points.`;
    if (high < 0) return `${nameOf(variant)} is worse than ${first} by ${range(-high, -low)} points.`;
    return `Too early to tell: ${nameOf(variant)} may be up to ${pointsOf(-low)} points worse than ${first}, or up to ${pointsOf(high)} points better.`;
  });
}

const nameOf = ({ name }: { name: string }): string => `“${escapeInvisible(name)}”`;
const range = (low: number, high: number): string => `${pointsOf(low)} to ${pointsOf(high)}`;

/** A warning if the variants were probably not assigned equally: by displays if all have them, otherwise by choices. */
export function unevenness({ variants }: Experiment): string | null {
  if (variants.length < 2) return null;
  const hasDisplays = variants.every(({ displays }) => displays !== undefined);
  const p = equalSharesP(variants.map(({ all, displays }) => (hasDisplays ? (displays ?? 0) : all)));
  if (p >= unevenBelow) return null;
  return `The variants have very different numbers of ${hasDisplays ? 'displays' : 'choices'}: against equal shares, p is below ${unevenBelow}. If visitors were to see them equally often, something went wrong when they were given out or recorded, and the rates cannot be compared. If you gave them out unequally on purpose, ignore this.`;
}
