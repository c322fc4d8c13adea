/** Whether a process can work, and what is degraded: for probes and for the status page. */
import type { Database } from '../db/database.ts';
import { isReadOnly, lookAtSchema } from '../db/schema.ts';
import { within } from '../timers.ts';

type PartName = 'postgres' | 'replica' | 'redis' | 'queue' | 'processes';

/** Something degraded, although the process may be ready. */
export interface Fault {
  part: PartName;
  reason: string;
  /** Unix milliseconds */
  since: number;
  /** its effect, and how long that lasts */
  costs: string;
}

export interface Readiness {
  ready: boolean;
  degraded: Fault[];
  /** what an operator should change, although the process is ready */
  warnings: string[];
  /** the state of each part; a text explains a bad state */
  parts: Record<string, boolean | string | number>;
}

/** The state in which a part was found. */
interface Seen {
  /** as in `/readyz` */
  state: boolean | string;
  /** absent if the part works */
  fault?: Pick<Fault, 'reason' | 'since'> | undefined;
  /** of Postgres: it responds, but stores nothing */
  canBeRead?: boolean;
}
type AllSeen = Partial<Record<PartName, Seen>>;

/** A dependency of a process. */
export interface Part {
  name: PartName;
  look: () => Seen | Promise<Seen>;
  /** the effect of a fault, which may depend on the state of the others */
  costs: (seen: AllSeen) => string;
}

/** Checks all parts at once; `isReady` says whether the process can work in this state. */
export async function lookAtParts(
  parts: Part[],
  isReady: (seen: AllSeen) => boolean,
): Promise<Omit<Readiness, 'warnings'>> {
  const found = await Promise.all(parts.map(async (part) => ({ ...part, ...(await part.look()) })));
  const seen: AllSeen = Object.fromEntries(found.map((part) => [part.name, part]));
  return {
    ready: isReady(seen),
    parts: Object.fromEntries(found.map(({ name, state }) => [name, state])),
    degraded: found.flatMap(({ name, fault, costs }) => (fault ? [{ part: name, ...fault, costs: costs(seen) }] : [])),
  };
}

type Pool = Pick<Database, 'read' | 'unavailableSince' | 'refusal'>;
export type Pools = readonly [Pool, ...Pool[]];

/** Milliseconds to wait for Postgres. */
const postgresPatience = 1_000;
const lacksMigrations = 'lacks migrations of this release';
const looksElsewhere = 'the search_path of its login leads past the tables';
const whyNot = {
  old: lacksMigrations,
  elsewhere: looksElsewhere,
  forbidden: 'its login lacks rights that this release needs: npm run migrate grants them',
  readOnly: 'is read-only (transaction_read_only is on)',
  unknown: 'does not respond',
};

/**
 * Whether Postgres responds and stores, with the schema and the rights that `app` needs. `pools`: all pools of the process.
 */
export async function lookAtPostgres(pools: Pools, app: 'api' | 'worker'): Promise<Seen> {
  const [db] = pools;
  const schema = await lookAtSchema(db, postgresPatience, app);
  if (schema === 'current') {
    const refusal = pools.map((pool) => pool.refusal()).find((each) => each !== null);
    if (!refusal) return { state: true };
    const { reason, since } = refusal;
    return { state: false, fault: { reason: `stores nothing: ${reason}`, since }, canBeRead: true };
  }
  const since = ['old', 'elsewhere'].includes(schema)
    ? Math.round(performance.timeOrigin)
    : (db.unavailableSince() ?? Date.now());
  return { state: false, fault: { reason: whyNot[schema], since }, canBeRead: schema === 'readOnly' };
}

/** For a metric. Checks all pools, since one may lack rights that others do not need. */
export const isPostgresUsable = async (pools: Pools): Promise<boolean> =>
  pools.every((pool) => pool.unavailableSince() === null) &&
  !(await within(postgresPatience, pools[0].read(isReadOnly)).catch(() => false));

/** Whether the schema belongs to an earlier release or is missing, so that this process cannot work. */
export const isOld = (postgres: Seen | undefined): boolean =>
  [lacksMigrations, looksElsewhere].includes(postgres?.fault?.reason ?? '');

/** The JSON of `/readyz`; without `degraded` and `warnings` if there are none. */
export const readyzBody = ({ ready, parts, degraded, warnings }: Readiness): object => ({
  ready,
  ...parts,
  ...(degraded.length > 0 && {
    degraded: degraded.map((fault) => ({ ...fault, since: new Date(fault.since).toISOString() })),
  }),
  ...(warnings.length > 0 && { warnings }),
});

export interface Shard {
  shard: number;
  /** by state */
  jobs: Record<string, number>;
  /** seconds */
  oldest: number;
}

/** Seconds that a job may wait. */
const patience = 60;

/** A fault if a job has been waiting for too long, as when no worker runs. */
export function lateQueue(shards: Shard[]): Fault[] {
  const oldest = Math.max(0, ...shards.map((shard) => shard.oldest));
  if (oldest <= patience) return [];
  return [
    {
      part: 'queue',
      reason: 'the oldest job waits for more than a minute',
      since: Math.round(Date.now() - oldest * 1000),
      costs:
        'Waiting records are safe, but not yet in the log or in statistics. Start workers, or look at their `/readyz`.',
    },
  ];
}
