/** Facets as the API shows them: groups and rates. */

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

/** values with a group of their own; all domains have one, because callers cannot make them up */
const most = 200;

const addUp = (facets: Facet[], count: (facet: Facet) => number): number =>
  facets.reduce((sum, facet) => sum + count(facet), 0);

/** The figures that depend on `by`. `found`: the facets of `by`, of `source` and of `crawlers`. */
export function groupedFigures(by: OrganizationDimension, found: Facet[]) {
  const of = (wanted: Facet['dimension']) => found.filter(({ dimension }) => dimension === wanted);
  return {
    bots: addUp(of('crawlers'), totalOf),
    ...ratesOf(of('source')),
    groups: groupsOf(by, omitsNone.includes(by) ? withNone(of(by), of('source')) : of(by)),
  };
}

/** Rates from the facets of `source`, which together cover every record and every display. */
export const ratesOf = (bySource: Facet[]) => ({ ...choiceFigures(bySource), ...displayFigures(bySource) });

/** Rates for a response whose `counts` come from counters. Facets lag behind them; `pending` says by how many decisions. */
export function ratesBeside(counts: Breakdown, found: Facet[]) {
  const pending = totalOf(counts) - totalOf(sumOf(found));
  return { ...ratesOf(bySource(found)), ...(pending > 0 && { pending }) };
}

export const bySource = (found: Facet[]): Facet[] => found.filter(({ dimension }) => dimension === 'source');

/** Without `objections` if there are none. */
export function choiceFigures(facets: Facet[]): { choices: number; optInRate: number | null; objections?: number } {
  const objections = addUp(facets, (facet) => facet.objections);
  const figures = { choices: addUp(facets, ({ choices }) => choices), optInRate: optInRate(facets) };
  return objections === 0 ? figures : { ...figures, objections };
}

/** Undefined if no display was counted. */
function displayFigures(facets: Facet[]): { displays: number; noChoiceRate: number } | undefined {
  const displays = addUp(facets, (facet) => facet.displays);
  if (displays === 0) return undefined;
  const responses = addUp(facets, (facet) => facet.answers);
  // not below 0: a decision may fall on a later day than its display, so choices can outnumber displays
  return { displays, noChoiceRate: Math.max(0, 1 - responses / displays) };
}

/**
 * Facets of these dimensions leave out records without a value. Every record has a source, so the facets of `source` minus
 * these give the records without a value.
 */
const omitsNone: readonly OrganizationDimension[] = ['region', 'model'];
const counted = [...decisions, 'choices', 'optIns', 'answers', 'objections'] as const;

function withNone(own: Facet[], bySource: Facet[]): Facet[] {
  const [first] = bySource;
  if (!first) return own;
  const rest: Facet = { ...first, value: '', isOther: false, displays: 0 };
  for (const name of counted) rest[name] = addUp(bySource, (facet) => facet[name]) - addUp(own, (facet) => facet[name]);
  return totalOf(rest) > 0 ? [...own, rest] : own;
}

/** Largest first, and last the sum of values without a group of their own. */
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
