/** Groups of decisions as rows of a table, compared with the previous period. */

import { optInRate } from '#libs/base/terms/opt-in';
import type { Breakdown, Dimension } from '#libs/base/terms/terms';
import type { CategoryGroup, DomainStats, StatsGroup } from '#libs/stats/contract';
import { valueName } from './dimensions.ts';
import { type Difference, differenceOf, type Proportion } from './proportions.ts';

export interface Row {
  /** unique in its table */
  key: string;
  name: string;
  /** the stored value, such as a country's code; null for records without one, and for the sum of all other groups */
  value: string | null;
  /** decisions; for a category, those that name it */
  count: number;
  /** The share that opted in, or that allowed the category; null without choices. */
  rate: number | null;
  /** numerator and denominator of the rate */
  of: Proportion;
  /** rate in the previous period; undefined if there is none to compare with */
  before?: Pick<Row, 'rate' | 'of'> | undefined;
  /** the fields below are absent for categories */
  breakdown?: Breakdown;
  choices?: number;
  objections?: number | undefined;
  displays?: number | undefined;
  noChoiceRate?: number | null | undefined;
}

/** Rows from the responses for both periods. */
export function rowsOf(dimension: Dimension, { groups = [] }: DomainStats, before?: DomainStats | null): Row[] {
  const earlier = new Map((before?.groups ?? []).map((group) => [keyOf(group), rowOf(dimension, group)]));
  return groups.map((group) => {
    // the sum of the others covers other values in each period
    const then = group.other ? undefined : earlier.get(keyOf(group));
    return { ...rowOf(dimension, group), before: then && { rate: then.rate, of: then.of } };
  });
}

type Group = StatsGroup | CategoryGroup;

const keyOf = ({ value, other }: Group): string => (other ? 'other' : value === null ? 'none' : `=${value}`);

function rowOf(dimension: Dimension, group: Group): Row {
  const same = { key: keyOf(group), name: valueName(dimension, group), value: group.value };
  if ('allowed' in group) {
    const count = group.allowed + group.denied;
    const of = { part: group.allowed, all: count };
    return { ...same, count, rate: count > 0 ? group.allowed / count : null, of };
  }
  const { total, optInRate, ...figures } = group;
  return { ...figures, ...same, count: total, rate: optInRate, of: proportionOf([group]) };
}

/** Null if there are too few choices to compare. */
export const changeOf = ({ of, before }: Row): Difference | null => (before ? differenceOf(of, before.of) : null);

export const hasObjections = ({ objections }: Row): boolean => objections !== undefined;

export const hasDisplays = ({ displays }: Row): boolean => displays !== undefined;

/** What visitors did with the banner, from the groups by source; undefined if no display was counted. */
export function funnelOf({ groups = [], displays }: DomainStats) {
  if (displays === undefined) return undefined;
  const banner = groups.find(({ value }) => value === 'banner');
  if (!banner || !('choices' in banner)) return { displays, answers: 0, optIns: 0 };
  return { displays, answers: banner.choices, optIns: optInsOf(banner) };
}

/** Counts of a response, or of one of its groups or days. */
export interface Rated {
  choices?: number | undefined;
  optInRate?: number | null | undefined;
}

/** Recovers the exact number of opt-ins: the service divides two whole numbers. */
export const optInsOf = ({ choices = 0, optInRate }: Rated): number => Math.round((optInRate ?? 0) * choices);

/** The opt-in rate over several days together. */
export function proportionOf(days: readonly Rated[]): Proportion {
  const sum = (part: (day: Rated) => number) => days.reduce((total, day) => total + part(day), 0);
  return { part: sum(optInsOf), all: sum(({ choices = 0 }) => choices) };
}

/** Null without choices. */
export const rateIn = ({ part, all }: Proportion): number | null => optInRate([{ choices: all, optIns: part }]);
