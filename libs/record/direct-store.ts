/**
 * The direct path: records go straight to Postgres, where Redis cannot take them. A batch has records of several
 * organizations. Those of one whose statements take too long, since somebody holds a lock, must not keep the others from it.
 */
import pLimit from 'p-limit';
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

interface DirectStoreParts {
  db: Database;
  metrics: RecordMetrics;
  log: Pick<Log, 'error' | 'warn'>;
  /** statements at once: whoever waits for its turn here uses up no deadline */
  statements: number;
  /** milliseconds for which an organization is refused whose statement took too long; default 10,000 */
  refusedFor?: number;
}

/** statements of a batch that took too long, with none that did not: then it is Postgres, not its organizations */
const enough = 3;

/** Resolves to the organizations whose records could not be stored; rejects where none could. */
export function createDirectStore({
  statements,
  refusedFor = 10_000,
  ...parts
}: DirectStoreParts): (records: RecordOf[]) => Promise<ReadonlySet<string>> {
  /** by organization, when it is tried again, by `performance.now()` */
  const slow = new Map<string, number>();
  const isRefused = (organizationId: string) => performance.now() < (slow.get(organizationId) ?? 0);
  const refuse = (organizationId: string) => slow.set(organizationId, performance.now() + refusedFor);
  const turns = pLimit(statements);
  /** of batches that are stored by organization: the one that is slow leaves the other turn to all others */
  const apart = pLimit(2);

  const store = (records: RecordOf[]) =>
    turns(() =>
      persistWatched(
        parts,
        records.map(({ record }) => record),
        { owe: true, isEnd: isTooSlow },
      ),
    );

  /** Nobody waits for it: they are sent again, and then stored once. */
  const probe = async (organizationId: string, records: RecordOf[]): Promise<void> => {
    refuse(organizationId);
    try {
      await store(records);
      slow.delete(organizationId);
    } catch (error) {
      if (!isTooSlow(error)) slow.delete(organizationId);
    }
  };

  /** `error`: of all of them together. */
  const storeEach = async (records: RecordOf[], error: unknown): Promise<string[]> => {
    const byOrganization = groupBy(records, ({ organizationId }) => organizationId);
    if (byOrganization.size === 1) throw error;
    const stored = new Set<string>();
    const late: string[] = [];
    const tryOne = async ([organizationId, some]: [string, RecordOf[]]): Promise<void> => {
      // of another batch it was found out meanwhile, or it is of no use
      if (isRefused(organizationId) || (stored.size === 0 && late.length >= enough)) return;
      try {
        await store(some);
        stored.add(organizationId);
      } catch (cause) {
        if (!isTooSlow(cause)) throw cause;
        late.push(organizationId);
        refuse(organizationId);
      }
    };
    const tries = await Promise.allSettled(Array.from(byOrganization, (one) => apart(tryOne, one)));
    const failed = tries.find((one) => one.status === 'rejected');
    if (failed || stored.size === 0) for (const each of late) slow.delete(each);
    if (failed) throw failed.reason;
    if (stored.size === 0 && late.length > 0) throw error;
    if (late.length > 0)
      parts.log.warn({ err: error, organizationIds: late }, 'a statement took too long; records of these are refused');
    return [...byOrganization.keys()].filter((organizationId) => !stored.has(organizationId));
  };

  return async (records) => {
    const refused: string[] = [];
    const others: RecordOf[] = [];
    for (const [organizationId, some] of groupBy(records, (each) => each.organizationId)) {
      if (!slow.has(organizationId)) {
        others.push(...some);
        continue;
      }
      if (!isRefused(organizationId)) void probe(organizationId, some);
      refused.push(organizationId);
    }
    if (others.length === 0) return new Set(refused);
    try {
      await store(others);
    } catch (error) {
      if (!isTooSlow(error)) throw error;
      refused.push(...(await storeEach(others, error)));
    }
    return new Set(refused);
  };
}
