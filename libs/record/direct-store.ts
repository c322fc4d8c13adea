/**
 * The direct path: if Redis takes no jobs, records go straight to Postgres. A batch has records of several organizations.
 * One whose statements take too long, because somebody holds a lock, must not keep the others from being stored.
 */
import pLimit from 'p-limit';
import type { Database } from '#libs/base/db/database';
import { type Failure, failureOf } from '#libs/base/db/errors';
import { groupBy } from '#libs/base/group-by';
import type { Log } from '#libs/base/ops/process-log';
import type { NewRecord } from './contract.ts';
import { createHeldUp } from './held-up.ts';
import type { RecordMetrics } from './metrics.ts';
import { persistWithMetrics } from './store.ts';

export interface RecordOfOrganization {
  record: NewRecord;
  organizationId: string;
}

interface DirectStoreParts {
  db: Database;
  metrics: RecordMetrics;
  log: Pick<Log, 'error' | 'warn'>;
  /** how many statements run at once; while one waits here, its deadline has not started */
  statements: number;
  /** milliseconds for which an organization is refused after a statement that took too long; default 10,000 */
  refusedFor?: number;
}

/** If this many statements of a batch were slow and none succeeded, Postgres itself is slow. */
const maxSlow = 3;

/**
 * Resolves to the organizations whose records were not stored. Rejects if a statement fails for any reason but slowness,
 * even if other organizations' records were stored. Also rejects if every statement it tried was too slow.
 */
export function createDirectStore({
  statements,
  refusedFor = 10_000,
  ...parts
}: DirectStoreParts): (records: RecordOfOrganization[]) => Promise<ReadonlySet<string>> {
  const heldUp = createHeldUp({ tryEvery: refusedFor, staysFor: 0 });
  const turns = pLimit(statements);
  /** At most two single-organization statements run at once: while one is slow, the other serves the rest. */
  const apart = pLimit(2);

  const store = (records: RecordOfOrganization[]): Promise<Failure | undefined> => {
    const batch = records.map(({ record }) => record);
    return turns(() => failureOf(() => persistWithMetrics(parts, batch, { owe: true })));
  };

  /** Tries a slow organization again. Its records are refused meanwhile: clients send them again, and they are stored once. */
  const probe = async (organizationId: string, records: RecordOfOrganization[]): Promise<void> => {
    const end = heldUp.beginTry(organizationId);
    const failure = await store(records);
    end(failure?.fault === 'slow');
  };

  /**
   * Returns the organizations whose records were not stored. `failure`: how the one statement with all these records
   * failed.
   */
  const storeEach = async (records: RecordOfOrganization[], failure: Failure): Promise<string[]> => {
    const byOrganization = groupBy(records, ({ organizationId }) => organizationId);
    if (byOrganization.size === 1) throw failure.error;
    const stored = new Set<string>();
    const late: string[] = [];
    const failures: Failure[] = [];
    const storeOne = async ([organizationId, some]: [string, RecordOfOrganization[]]): Promise<void> => {
      // another batch may have found it slow meanwhile
      if (heldUp.has(organizationId) || (stored.size === 0 && late.length >= maxSlow)) return;
      const own = await store(some);
      if (!own) {
        stored.add(organizationId);
      } else if (own.fault === 'slow') {
        late.push(organizationId);
        heldUp.add([organizationId]);
      } else failures.push(own);
    };
    await Promise.all(Array.from(byOrganization, (each) => apart(storeOne, each)));
    const ofAll = failures[0] ?? (stored.size === 0 && late.length > 0 ? failure : undefined);
    if (ofAll) {
      for (const each of late) heldUp.remove(each);
      throw ofAll.error;
    }
    if (late.length > 0)
      parts.log.warn(
        { err: failure.error, organizationIds: late },
        'a statement took too long; records of these organizations are refused',
      );
    return [...byOrganization.keys()].filter((organizationId) => !stored.has(organizationId));
  };

  return async (records) => {
    const refused: string[] = [];
    const others: RecordOfOrganization[] = [];
    for (const [organizationId, some] of groupBy(records, (each) => each.organizationId)) {
      if (!heldUp.has(organizationId)) {
        others.push(...some);
        continue;
      }
      if (!heldUp.mustWait(organizationId)) void probe(organizationId, some);
      refused.push(organizationId);
    }
    const failure = others.length > 0 ? await store(others) : undefined;
    if (failure?.fault === 'slow') refused.push(...(await storeEach(others, failure)));
    else if (failure) throw failure.error;
    return new Set(refused);
  };
}
