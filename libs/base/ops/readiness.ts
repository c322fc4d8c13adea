/** Whether a process can work, and what of it is degraded: for probes, and for the page that people look at. */

/** What does not work as it should, although the process may be ready. */
export interface Fault {
  part: 'postgres' | 'replica' | 'redis' | 'queue' | 'processes';
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
      costs: 'Records that wait are safe, but are neither in the log nor in statistics. Start workers, or see theirs.',
    },
  ];
}
