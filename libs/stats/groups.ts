/** Facets as an answer has them: groups, and the rates. */

import { optInRate } from '#libs/base/terms/opt-in';
import {
  type Breakdown,
  decisions,
  displayDimensions,
  type OrganizationDimension,
  sumOf,
  totalOf,
} from '#libs/base/terms/terms';
import type { CategoryGroup, StatsGroup } from './contract.ts';
import type { Facet } from './facets.ts';

/** values that have a group of their own; domains all have one, since nobody makes them up */
const most = 200;

const addUp = (facets: Facet[], count: (facet: Facet) => number): number =>
  facets.reduce((sum, facet) => sum + count(facet), 0);

/** The answer's own part of what was found `by` a dimension, `source` and `crawlers`. */
export function groupedFigures(by: OrganizationDimension, found: Facet[]) {
  const of = (wanted: Facet['dimension']) => found.filter(({ dimension }) => dimension === wanted);
  return {
    bots: addUp(of('crawlers'), totalOf),
    ...ratesOf(of('source')),
    groups: groupsOf(by, hasRest.includes(by) ? withRest(of(by), of('source')) : of(by)),
  };
}

/** Every record has a source, and every display. */
export const ratesOf = (bySource: Facet[]) => ({ ...choiceFigures(bySource), ...displayFigures(bySource) });

/** The rates beside `counts`, which are ahead of them, from what was found by source and of crawlers. */
export function ratesBeside(counts: Breakdown, found: Facet[]) {
  const pending = totalOf(counts) - totalOf(sumOf(found));
  return { ...ratesOf(bySource(found)), ...(pending > 0 && { pending }) };
}

export const bySource = (found: Facet[]): Facet[] => found.filter(({ dimension }) => dimension === 'source');

/** Without objections where there is none. */
export function choiceFigures(facets: Facet[]): { choices: number; optInRate: number | null; objections?: number } {
  const objections = addUp(facets, (facet) => facet.objections);
  const figures = { choices: addUp(facets, ({ choices }) => choices), optInRate: optInRate(facets) };
  return objections === 0 ? figures : { ...figures, objections };
}

/** Absent where no display was counted. */
function displayFigures(facets: Facet[]): { displays: number; noChoiceRate: number } | undefined {
  const displays = addUp(facets, (facet) => facet.displays);
  if (displays === 0) return undefined;
  const answers = addUp(facets, (facet) => facet.answers);
  // a banner may be answered on another day than it was shown
  return { displays, noChoiceRate: Math.max(0, 1 - answers / displays) };
}

/** Of these dimensions values alone are stored. Every record has a source, so the rest has no value. */
const hasRest: readonly OrganizationDimension[] = ['region', 'model'];
const counted = [...decisions, 'choices', 'optIns', 'answers', 'objections'] as const;

function withRest(own: Facet[], bySource: Facet[]): Facet[] {
  const [first] = bySource;
  if (!first) return own;
  const rest: Facet = { ...first, value: '', isOther: false, displays: 0 };
  for (const name of counted) rest[name] = addUp(bySource, (facet) => facet[name]) - addUp(own, (facet) => facet[name]);
  return totalOf(rest) > 0 ? [...own, rest] : own;
}

/** Largest first. What has no group of its own comes last, together. */
function groupsOf(by: OrganizationDimension, facets: Facet[]): StatsGroup[] | CategoryGroup[] {
  const own = facets.filter(({ isOther }) => !isOther).sort(bySize);
  const none = own.filter(({ value }) => value === '');
  const named = own.filter(({ value }) => value !== '');
  const ownGroups = by === 'domain' ? named.length : most;
  const apart = [...none, ...named.slice(0, ownGroups)].sort(bySize).map((facet) => [facet]);
  const others = [...named.slice(ownGroups), ...facets.filter(({ isOther }) => isOther)];
  const together = others.length > 0 ? [...apart, others] : apart;
  return together.map((each) => {
    const { value, firstDay } = each[0] ?? {};
    const identity =
      each === others ? { value: null, other: true as const } : { value: value || null, ...(firstDay && { firstDay }) };
    return { ...identity, ...(by === 'category' ? categoryFigures(each) : figures(by, each)) };
  }) as StatsGroup[] | CategoryGroup[];
}

function bySize(one: Facet, other: Facet): number {
  const difference = sizeOf(other) - sizeOf(one) || other.displays - one.displays;
  return difference || (one.value < other.value ? -1 : 1);
}

const sizeOf = (facet: Facet): number => totalOf(facet) + facet.allowed + facet.denied;

const categoryFigures = (facets: Facet[]) => ({
  allowed: addUp(facets, ({ allowed }) => allowed),
  denied: addUp(facets, ({ denied }) => denied),
});

function figures(by: OrganizationDimension, facets: Facet[]): Omit<StatsGroup, 'value' | 'other'> {
  const breakdown = sumOf(facets);
  const shown = displayDimensions.includes(by) ? displayFigures(facets) : undefined;
  const last = by === 'domain' && { lastDecisionAt: facets[0]?.lastAt?.toISOString() ?? null };
  return { total: totalOf(breakdown), breakdown, ...choiceFigures(facets), ...shown, ...last };
}
