/**
 * Whether Redis can take records now, and whether its settings let it keep them through an outage. It is probed several
 * times a second, so that no request has to wait for a timeout.
 */
import { Cluster, type Redis } from 'ioredis';
import { every, within } from '../timers.ts';
import type { RedisClient, Role } from './connection.ts';
import { whyRightsLack } from './rights.ts';

const probeEvery = 250;
const probeTimeout = 500;
/** Above this share of maxmemory, records go straight to Postgres: a worker that starts on a full Redis never drains it. */
const fullAt = 0.8;

export interface RedisHealth {
  /** why Redis does not take records; null if it does */
  reason(): string | null;
  /** since when, in Unix milliseconds */
  since(): number;
  /** What the operator should change although Redis takes records, as of the last probe. */
  warnings(): string[];
  /** The used share of maxmemory, of the fullest master; 0 without maxmemory, null if Redis does not respond. */
  memory(): number | null;
  /** An `add` failed: not usable until the next probe succeeds. */
  reportFailure(reason: string): void;
  /** Resolves when Redis can first take records. */
  usable(): Promise<void>;
  close(): void;
}

/** `onWarnings` is called when the first probe finds warnings, and when they change. `role`: what the process needs. */
export function watchRedis(
  client: RedisClient,
  onChange: (reason: string | null) => void,
  onWarnings: (warnings: string[]) => void = () => {},
  role: Role = 'producer',
): RedisHealth {
  let warnings: string[] = [];
  let memory: number | null = null;
  let reason: string | null = 'not connected yet';
  let failureReportedAt = 0;
  let since = Date.now();
  let becomeUsable = () => {};
  const usable = new Promise<void>((resolve) => {
    becomeUsable = resolve;
  });

  const set = (next: string | null) => {
    const changed = (next === null) !== (reason === null);
    reason = next;
    if (next === null) becomeUsable();
    if (changed) since = Date.now();
    if (changed) onChange(next);
  };

  const probe = async () => {
    const started = performance.now();
    const { problem: found, warnings: next = warnings, memory: share = null } = await probeAll(client, role);
    memory = share;
    const isNews = next.join() !== warnings.join();
    warnings = next;
    if (isNews && warnings.length > 0) onWarnings(warnings);
    if (found !== null || started > failureReportedAt) set(found);
  };
  const probes = every({ name: 'probe_redis', pace: probeEvery, task: probe, failed: () => {} });
  void probes.now();

  return {
    reason: () => reason,
    since: () => since,
    warnings: () => warnings,
    memory: () => memory,
    reportFailure: (why) => {
      failureReportedAt = performance.now();
      set(why);
    },
    usable: () => usable,
    close: () => void probes.stop(),
  };
}

/** Probes all masters. If one does not respond, returns only the problem. */
async function probeAll(
  client: RedisClient,
  role: Role,
): Promise<{ problem: string | null; warnings?: string[]; memory?: number }> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  if (nodes.length === 0) return { problem: 'not connected' };
  // no node has reported the slots yet
  if (client instanceof Cluster && client.slots.length === 0) return { problem: 'not connected' };
  const unserved = client instanceof Cluster ? unservedSlots(client.slots, mastersOf(nodes)) : null;
  if (unserved !== null) return { problem: unserved };
  try {
    const infos = await within(probeTimeout, Promise.all(nodes.map((node) => node.info())));
    const states = client instanceof Cluster ? await within(probeTimeout, Promise.all(nodes.map(unservedSlotsIn))) : [];
    const problem = [...infos.map(problemIn), ...states].find((each) => each !== null) ?? null;
    const rights = nodes.map((node) => (problem === null ? whyRightsLack(node, role) : null));
    const lacking = (await within(probeTimeout, Promise.all(rights))).find((each) => each !== null) ?? null;
    return {
      problem: problem ?? lacking,
      // while it loads its data it has no append-only file yet
      ...(!infos.some(isLoading) && { warnings: [...new Set(infos.flatMap(warningsIn))] }),
      memory: Math.max(...infos.map(memoryIn)),
    };
  } catch (error) {
    return {
      problem: client.status === 'ready' ? (error instanceof Error ? error.message : String(error)) : 'not connected',
    };
  }
}

const mastersOf = (nodes: Redis[]): string[] => nodes.map(({ options }) => `${options.host}:${options.port}`);

/** Of a cluster. */
const allSlots = 16_384;
const unservedReason = 'the cluster has slots that no node serves';

/**
 * Why some slots are not served; null if all are. `slots`: the nodes of each, its master first, as the client knows them. A
 * slot that was never assigned is missing from `slots`. A slot whose master died is still listed until a replica takes
 * over, but its master is no longer in `connected`.
 */
export function unservedSlots(slots: readonly string[][], connected: string[]): string | null {
  const masters = new Set<string | undefined>();
  // by index, because some array methods skip holes
  for (let slot = 0; slot < allSlots; slot += 1) masters.add(slots[slot]?.[0]);
  if (masters.has(undefined)) return unservedReason;
  const lost = [...masters].find((master) => master !== undefined && !connected.includes(master));
  return lost === undefined ? null : `the master ${lost} is not connected`;
}

/** Why, according to this master, the cluster does not serve all slots; null if it does. */
async function unservedSlotsIn(node: Redis): Promise<string | null> {
  const info = String(await node.cluster('INFO'));
  if (fieldOf(info, 'cluster_state') !== 'ok') return 'the cluster is down';
  // some settings let a cluster be ok without all slots
  return Number(fieldOf(info, 'cluster_slots_assigned')) < allSlots ? unservedReason : null;
}

const fieldOf = (info: string, name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';

const isLoading = (info: string): boolean => fieldOf(info, 'loading') === '1';

/** Why this server cannot take records, by its reply to INFO; null if it can. */
function problemIn(info: string): string | null {
  const field = (name: string) => fieldOf(info, name);
  if (isLoading(info)) return 'loading its data';
  if (field('role') === 'slave') return 'a read-only replica';
  if (field('aof_last_write_status') === 'err') return 'cannot write its append-only file';
  // the field exists only if min-replicas-to-write is set
  if (field('min_slaves_good_slaves') === '0') return 'no replica, and min-replicas-to-write is set';
  if (memoryIn(info) > fullAt) return `above ${fullAt * 100} % of maxmemory`;
  return null;
}

/** The used share of maxmemory. */
function memoryIn(info: string): number {
  const max = Number(fieldOf(info, 'maxmemory'));
  return max > 0 ? Number(fieldOf(info, 'used_memory')) / max : 0;
}

function warningsIn(info: string): string[] {
  const policy = fieldOf(info, 'maxmemory_policy');
  const evicts = policy !== '' && policy !== 'noeviction';
  return [
    ...(fieldOf(info, 'aof_enabled') === '0'
      ? ['Redis has no append-only file: when it restarts it loses acknowledged records']
      : []),
    ...(fieldOf(info, 'maxmemory') === '0'
      ? ['Redis has no maxmemory: in a long outage of Postgres it takes all memory of its machine']
      : []),
    ...(evicts
      ? [`Redis has the maxmemory-policy ${policy}, not noeviction: when full it drops acknowledged records`]
      : []),
  ];
}
