/** Whether a process can work, and what of it is degraded: for probes, and for the page that people look at. */
import type { Database } from '../db/database.ts';
import { isReadOnly, lookAtSchema } from '../db/schema.ts';
import { within } from '../timers.ts';

type PartName = 'postgres' | 'replica' | 'redis' | 'queue' | 'processes';

/** What does not work as it should, although the process may be ready. */
export interface Fault {
  part: PartName;
  reason: string;
  /** Unix milliseconds */
  since: number;
  /** what it costs, and for how long */
  costs: string;
}

export interface Readiness {
  ready: boolean;
  degraded: Fault[];
  /** what an operator should change, although it is ready */
  warnings: string[];
  /** the state of each part; a text says why it is not well */
  parts: Record<string, boolean | string | number>;
}

/** How a part was found. */
interface Seen {
  /** as `/readyz` says it */
  state: boolean | string;
  /** absent where the part is well */
  fault?: Pick<Fault, 'reason' | 'since'> | undefined;
  /** of Postgres: it stores nothing, but answers */
  canBeRead?: boolean;
}
type AllSeen = Partial<Record<PartName, Seen>>;

/** What a process depends on. */
export interface Part {
  name: PartName;
  look: () => Seen | Promise<Seen>;
  /** what a fault costs, which may depend on how the others were found */
  costs: (seen: AllSeen) => string;
}

/** Looks at all parts at once; `isReady` says whether the process works with what was found. */
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

/** Milliseconds for an answer of Postgres. */
const postgresPatience = 1_000;
const lacksMigrations = 'lacks migrations of this release';
const looksElsewhere = 'the search_path of its login leads past the tables';
const whyNot = {
  old: lacksMigrations,
  elsewhere: looksElsewhere,
  forbidden: 'its login lacks rights that this release needs: npm run migrate grants them',
  readOnly: 'is read-only (transaction_read_only is on)',
  unknown: 'does not answer',
};

/** Whether Postgres answers and stores, with the schema and the rights that `app` needs. `pools`: all of the process. */
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

/** For a metric. Of all pools: one may lack rights that another one's work does not need. */
export const isPostgresUsable = async (pools: Pools): Promise<boolean> =>
  pools.every((pool) => pool.unavailableSince() === null) &&
  !(await within(postgresPatience, pools[0].read(isReadOnly)).catch(() => false));

/** Whether the schema is that of a release before, or not found: this process has nothing to work with. */
export const isOld = (postgres: Seen | undefined): boolean =>
  [lacksMigrations, looksElsewhere].includes(postgres?.fault?.reason ?? '');

/** As `/readyz` says it; `degraded` and `warnings` are not shown where there are none. */
export const toAnswer = ({ ready, parts, degraded, warnings }: Readiness): object => ({
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

/** A queue that nobody empties. */
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
