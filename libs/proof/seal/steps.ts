/** Plans how logs catch up: what each of them lacks within a span of epochs, so that they go through the span together. */

import type { Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { lastOfSpan } from '#libs/epochs/slices';
import type { Waiting } from '../heads.ts';

/** What one log gets next. */
export interface Step {
  domainNumber: number;
  /** the epoch that the log has to catch up from; its domain has no records from there up to `epoch`, exclusive */
  from: number;
  /** null where its domain has no records in the whole span */
  epoch: number | null;
  /** of its domain in this epoch */
  records: number;
  /** the epoch that the log waits from afterwards */
  next: number;
}

export interface StepPlan {
  /** the first epoch after the span */
  end: number;
  /** of the logs that wait from an epoch of the span, in the order of epochs; those without any records come first */
  steps: Step[];
}

interface Limits {
  /** the last epoch that may be sealed */
  through: number;
  /** Records in a span, of all domains, so that no statement reads through millions of entries of other domains. */
  span: number;
  /** Records in a piece. When the span is one large epoch, counting a domain stops at one more than this. */
  piece: number;
}

/** `waiting`: at least one, furthest behind first. */
export async function planSteps(sql: Sql, waiting: Waiting[], { through, span, piece }: Limits): Promise<StepPlan> {
  const from = waiting[0]?.waitsFrom ?? 0;
  // even the log furthest behind lacks no finished epoch: its step has no records, and only lets `catchUp` clear
  // `waitsFrom` if the log has caught up
  if (from > through) return { end: from + 1, steps: stepsOf(waiting, [], { last: from, next: from }) };
  const last = await lastOfSpan(sql, from, through, span);
  if (last === undefined) {
    const counted = await countEpoch(sql, waiting, from, piece);
    return { end: from + 1, steps: stepsOf(waiting, counted, { last: from, next: from + 1 }) };
  }
  const counted = await countSpan(sql, waiting, from, last);
  return { end: last + 1, steps: stepsOf(waiting, counted, { last, next: last + 1 }) };
}

interface Counted {
  domainNumber: number;
  epoch: number;
  records: number;
}

/** `last`: of the span. `next`: where logs wait once they have all of it. */
function stepsOf(waiting: Waiting[], counted: Counted[], { last, next }: { last: number; next: number }): Step[] {
  const byDomain = groupBy(counted, ({ domainNumber }) => domainNumber);
  const steps = waiting
    .filter(({ waitsFrom }) => waitsFrom <= last)
    .flatMap((log) => stepsOfOne(log, byDomain.get(log.domainNumber) ?? [], next));
  return steps.toSorted((one, other) => (one.epoch ?? 0) - (other.epoch ?? 0));
}

function stepsOfOne({ domainNumber, waitsFrom }: Waiting, counted: Counted[], next: number): Step[] {
  const lacking = counted.filter(({ epoch }) => epoch >= waitsFrom);
  if (lacking.length === 0) return [{ domainNumber, from: waitsFrom, epoch: null, records: 0, next }];
  return lacking.map(({ epoch, records }, at) => ({
    domainNumber,
    epoch,
    records,
    from: at === 0 ? waitsFrom : epoch,
    next: lacking[at + 1]?.epoch ?? next,
  }));
}

const numbersOf = (logs: Waiting[]): number[] => logs.map(({ domainNumber }) => domainNumber);

/** Counts the records of an epoch of any size, up to `most + 1` for each domain. */
const countEpoch = (sql: Sql, logs: Waiting[], epoch: number, most: number) => sql<Counted[]>`
  select number as "domainNumber", ${epoch}::integer as epoch, records
  from unnest(${numbersOf(logs)}::integer[]) as number
  cross join lateral (
    select count(*)::integer as records
    from (select from records where epoch = ${epoch} and domain_number = number limit ${most + 1}) as r
  ) as counted
  where records > 0`;

/**
 * In the order of epochs. Counts all domains, because Postgres might otherwise read the whole span once for each wanted
 * one.
 */
const countSpan = (sql: Sql, logs: Waiting[], from: number, last: number) => sql<Counted[]>`
  select domain_number as "domainNumber", epoch, records
  from (
    select epoch, domain_number, count(*)::integer as records from records
    where epoch between ${from} and ${last}
    group by epoch, domain_number
  ) as counted
  where domain_number in (select unnest(${numbersOf(logs)}::integer[]))
  order by epoch`;

/** `alone`: the steps of logs in `apart`, and of logs with an epoch that does not fit a piece. They go last, one by one. */
export function divide(steps: Step[], limit: number, apart: ReadonlySet<number>): { together: Step[]; alone: Step[] } {
  const large = new Set(steps.flatMap(({ domainNumber, records }) => (records > limit ? [domainNumber] : [])));
  const [together, alone]: [Step[], Step[]] = [[], []];
  for (const step of steps) {
    const isApart = large.has(step.domainNumber) || apart.has(step.domainNumber);
    (isApart ? alone : together).push(step);
  }
  return { together, alone };
}

/** Divides steps, all of one epoch, into pieces of at most `limit` records. A step with more gets a piece of its own. */
export function piecesOf(steps: Step[], limit: number): Step[][] {
  const pieces: Step[][] = [];
  let left = 0;
  for (const step of steps) {
    // each log has a cost, even without records
    const weight = Math.max(1, step.records);
    if (weight > left) {
      pieces.push([]);
      left = limit;
    }
    pieces.at(-1)?.push(step);
    left -= weight;
  }
  return pieces;
}
