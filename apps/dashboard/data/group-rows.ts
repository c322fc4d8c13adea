/** Groups of decisions as rows of a table, beside those of the period before. */

import { optInRate } from '#libs/base/terms/opt-in';
import type { Breakdown, Dimension } from '#libs/base/terms/terms';
import type { CategoryGroup, DomainStats, StatsGroup } from '#libs/stats/contract';
import { valueName } from './dimensions.ts';
import { type Difference, differenceOf, type Proportion } from './proportions.ts';

export interface Row {
  /** unique in its table */
  key: string;
  name: string;
  /** as records have it: a country's code, for example; null of those without one, and of all others together */
  value: string | null;
  /** decisions; of a category those that name it */
  count: number;
  /** The share that opted in, or that allowed the category; null where there is nothing to take a share of. */
  rate: number | null;
  /** what the rate is made of */
  of: Proportion;
  /** in the period before; undefined where there was none, or nothing to compare with */
  before?: Pick<Row, 'rate' | 'of'> | undefined;
  /** these two are absent of a category */
  breakdown?: Breakdown;
  choices?: number;
  objections?: number | undefined;
  displays?: number | undefined;
  noChoiceRate?: number | null | undefined;
}

/** Of two answers to the same question. */
export function rowsOf(dimension: Dimension, { groups = [] }: DomainStats, before?: DomainStats | null): Row[] {
  const earlier = new Map((before?.groups ?? []).map((group) => [keyOf(group), rowOf(dimension, group)]));
  return groups.map((group) => {
    // all others together are not the same values twice
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

/** Null where there are too few to compare. */
export const changeOf = ({ of, before }: Row): Difference | null => (before ? differenceOf(of, before.of) : null);

export const isObjected = ({ objections }: Row): boolean => objections !== undefined;

export const isShown = ({ displays }: Row): boolean => displays !== undefined;

/** What visitors did with banners, from the groups by source; undefined where no display was counted. */
export function funnelOf({ groups = [], displays }: DomainStats) {
  if (displays === undefined) return undefined;
  const banner = groups.find(({ value }) => value === 'banner');
  if (!banner || !('choices' in banner)) return { displays, answers: 0, optIns: 0 };
  return { displays, answers: banner.choices, optIns: optInsOf(banner) };
}

/** As an answer has them, or one of its groups or days. */
export interface Rated {
  choices?: number | undefined;
  optInRate?: number | null | undefined;
}

/** Exact: the service divides two whole numbers. */
export const optInsOf = ({ choices = 0, optInRate }: Rated): number => Math.round((optInRate ?? 0) * choices);

/** Opt-ins among the choices of several days together. */
export function proportionOf(days: readonly Rated[]): Proportion {
  const sum = (part: (day: Rated) => number) => days.reduce((total, day) => total + part(day), 0);
  return { part: sum(optInsOf), all: sum(({ choices = 0 }) => choices) };
}

/** Null without choices. */
export const rateIn = ({ part, all }: Proportion): number | null => optInRate([{ choices: all, optIns: part }]);
