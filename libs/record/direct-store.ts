/**
 * The direct path: records go straight to Postgres, where Redis cannot take them. Each batch has records of several
 * organizations. Those of one whose statements take too long, since somebody holds a lock, must not keep the others from it.
 */
import type { Database } from '#libs/base/db/database';
import { isTooSlow } from '#libs/base/db/errors';
import { groupBy } from '#libs/base/group-by';
import type { Log } from '#libs/base/ops/process-log';
import type { NewRecord } from './contract.ts';
import type { RecordMetrics } from './metrics.ts';
import { persistWatched } from './store.ts';

/** A record, and whose it is. */
export interface RecordOf {
  record: NewRecord;
  organizationId: string;
}

/** Milliseconds for which an organization is refused after a statement of its own took too long. */
const usuallyRefusedFor = 10_000;
/** organizations in a row */
const enough = 3;

/** Resolves to the organizations whose records could not be stored; rejects where none could. */
export function createDirectStore(
  parts: { db: Database; metrics: RecordMetrics; log: Pick<Log, 'error' | 'warn'> },
  refusedFor = usuallyRefusedFor,
): (records: RecordOf[]) => Promise<ReadonlySet<string>> {
  /** by organization, when it may be tried again, by `performance.now()` */
  const slow = new Map<string, number>();

  const store = (records: RecordOf[]) =>
    persistWatched(
      parts,
      records.map(({ record }) => record),
      { owe: true, isEnd: isTooSlow },
    );

  /** By itself; one try at a time. Answers whether its records are stored. */
  const tryAlone = async (organizationId: string, records: RecordOf[]): Promise<boolean> => {
    if (performance.now() < (slow.get(organizationId) ?? 0)) return false;
    slow.set(organizationId, performance.now() + refusedFor);
    try {
      await store(records);
      slow.delete(organizationId);
      return true;
    } catch (error) {
      if (!isTooSlow(error)) throw error;
      parts.log.warn(
        { err: error, organizationId },
        'a statement took too long; the records of this organization are refused',
      );
      return false;
    }
  };

  /** Where several took too long, and none between them was stored, it is Postgres, not they: then nobody is refused for it. */
  const storeEach = async (records: RecordOf[], error: unknown): Promise<string[]> => {
    const refused: string[] = [];
    let inARow: string[] = [];
    for (const [organizationId, some] of groupBy(records, (each) => each.organizationId)) {
      if (await tryAlone(organizationId, some)) inARow = [];
      else {
        refused.push(organizationId);
        inARow.push(organizationId);
      }
      if (inARow.length < enough) continue;
      for (const each of inARow) slow.delete(each);
      throw error;
    }
    return refused;
  };

  const storeOthers = async (records: RecordOf[]): Promise<string[]> => {
    if (records.length === 0) return [];
    try {
      await store(records);
      return [];
    } catch (error) {
      if (!isTooSlow(error)) throw error;
      return storeEach(records, error);
    }
  };

  const storeApart = async (records: RecordOf[]): Promise<string[]> => {
    const refused: string[] = [];
    for (const [organizationId, some] of groupBy(records, (each) => each.organizationId))
      if (!(await tryAlone(organizationId, some))) refused.push(organizationId);
    return refused;
  };

  return async (records) => {
    const [apart, others] = [true, false].map((isSlow) =>
      records.filter(({ organizationId }) => slow.has(organizationId) === isSlow),
    );
    const refused = await Promise.all([storeOthers(others ?? []), storeApart(apart ?? [])]);
    return new Set(refused.flat());
  };
}
