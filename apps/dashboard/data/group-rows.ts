/** Groups of decisions as rows of a table, beside those of the period before. */

import { optInRate } from '#libs/base/terms/opt-in';
import type { Breakdown, Dimension } from '#libs/base/terms/terms';
import type { CategoryGroup, DomainStats, StatsGroup } from '#libs/stats/contract';
import { valueName } from './dimensions.ts';

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
  /** in the period before; undefined where there was none, or nothing to compare with */
  before?: { count: number; rate: number | null } | undefined;
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
    return { ...rowOf(dimension, group), before: then && { count: then.count, rate: then.rate } };
  });
}

type Group = StatsGroup | CategoryGroup;

const keyOf = ({ value, other }: Group): string => (other ? 'other' : value === null ? 'none' : `=${value}`);

function rowOf(dimension: Dimension, group: Group): Row {
  const same = { key: keyOf(group), name: valueName(dimension, group), value: group.value };
  if ('allowed' in group) {
    const count = group.allowed + group.denied;
    return { ...same, count, rate: count > 0 ? group.allowed / count : null };
  }
  const { total, optInRate, ...figures } = group;
  return { ...figures, ...same, count: total, rate: optInRate };
}

/** In points; null where one of both has no rate. */
export const changeOf = ({ rate, before }: Row): number | null =>
  rate === null || before === undefined || before.rate === null ? null : rate - before.rate;

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

/** Of several days together. */
export const rateOf = (parts: readonly Rated[]): number | null =>
  optInRate(parts.map((part) => ({ choices: part.choices ?? 0, optIns: optInsOf(part) })));
