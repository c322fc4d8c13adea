/** The changes in a period, and the opt-in rate before and after each. */

import type { BannerVersion } from '#libs/banner/contract';
import { addDays } from '#libs/base/terms/calendar';
import type { DomainStats } from '#libs/stats/contract';
import { proportionOf } from '../../data/group-rows.ts';
import { type Difference, differenceOf, fewest, type Proportion } from '../../data/proportions.ts';
import { escapeInvisible } from '../../format.ts';
import type { Counted } from './buckets.ts';

export interface Change {
  day: string;
  /** descriptions such as `Version 3 published`; one day may have several */
  names: string[];
  /** the notes of the publications */
  notes: string[];
}

/** Ascending. The first decision under a published version is not reported as another change. */
export function changesIn(
  versions: readonly BannerVersion[],
  [banners, policies]: readonly (DomainStats | undefined)[],
): Change[] {
  const published = new Set(versions.map(({ version }) => String(version)));
  const all = [
    ...versions.map(({ version, publishedAt, note }) => ({
      day: publishedAt.slice(0, 10),
      name: `Version ${version} published`,
      note,
    })),
    ...firstSeen(banners, 'Banner version').filter(({ value }) => !published.has(value)),
    ...firstSeen(policies, 'Policy version'),
  ];
  const days = [...new Set(all.map(({ day }) => day))].sort();
  return days.map((day) => {
    const those = all.filter((each) => each.day === day);
    return {
      day,
      names: those.map(({ name }) => name),
      notes: those.flatMap((each) => ('note' in each && each.note) || []),
    };
  });
}

/** Rare versions are ignored, since anybody can post an invented one. */
const firstSeen = (stats: DomainStats | undefined, kind: string) =>
  (stats?.groups ?? []).flatMap((group) =>
    'choices' in group && group.value !== null && group.firstDay !== undefined && group.choices >= fewest
      ? [{ value: group.value, day: group.firstDay, name: `${kind} ${escapeInvisible(group.value)} first seen` }]
      : [],
  );

/** most days compared before and after a change; whole weeks, since weekends have other visitors */
const longest = 28;

export interface ComparedChange extends Change {
  before: Proportion;
  after: Proportion;
  difference: Difference | null;
}

/**
 * Splits `days`, in order, into the spans between changes. The days of changes are left out: visitors saw either version.
 */
export function compare(changes: readonly Change[], days: readonly Counted[]): ComparedChange[] {
  const within = (from: string, to: string) =>
    proportionOf(days.filter((each) => 'date' in each && each.date >= from && each.date <= to));
  return changes.map((change, at) => {
    const { day } = change;
    const [last, next] = [changes[at - 1]?.day ?? '', changes[at + 1]?.day ?? '9'];
    const [from, to] = [addDays(day, -longest), addDays(day, longest)];
    const before = within(last >= from ? addDays(last, 1) : from, addDays(day, -1));
    const after = within(addDays(day, 1), next <= to ? addDays(next, -1) : to);
    return { ...change, before, after, difference: differenceOf(after, before) };
  });
}
