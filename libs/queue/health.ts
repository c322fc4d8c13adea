/** Whether Redis can take records now. Probed several times a second, so that no request has to wait for a timeout. */
import { Cluster } from 'ioredis';
import type { RedisClient } from '#libs/runtime/redis';
import { within } from '#libs/runtime/within';

const probeEvery = 250;
const probeTimeout = 500;
/** Above this share of maxmemory, records go straight to Postgres: a worker that starts on a full Redis never drains it. */
const fullAt = 0.8;

export interface RedisHealth {
  /** null: Redis takes records; otherwise why it does not */
  reason(): string | null;
  /** An `add` failed: not usable until the next probe succeeds. */
  suspect(reason: string): void;
  /** Resolves when Redis can first take records. */
  usable(): Promise<void>;
  close(): void;
}

export function watchRedis(client: RedisClient, onChange: (reason: string | null) => void): RedisHealth {
  let reason: string | null = 'not connected yet';
  let suspectedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let becomeUsable = () => {};
  const usable = new Promise<void>((resolve) => {
    becomeUsable = resolve;
  });

  const set = (next: string | null) => {
    const changed = (next === null) !== (reason === null);
    reason = next;
    if (next === null) becomeUsable();
    if (changed) onChange(next);
  };

  const probe = async () => {
    const started = performance.now();
    const found = await probeAll(client);
    if (found !== null || started > suspectedAt) set(found);
    timer = setTimeout(probe, probeEvery);
  };
  timer = setTimeout(probe, 0);

  return {
    reason: () => reason,
    suspect: (why) => {
      suspectedAt = performance.now();
      set(why);
    },
    usable: () => usable,
    close: () => clearTimeout(timer),
  };
}

async function probeAll(client: RedisClient): Promise<string | null> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  if (nodes.length === 0) return 'not connected';
  try {
    const infos = await within(probeTimeout, Promise.all(nodes.map((node) => node.info())));
    return infos.map(problemIn).find((problem) => problem !== null) ?? null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Why this server cannot take records, by its reply to INFO; null if it can. */
function problemIn(info: string): string | null {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  if (field('loading') === '1') return 'loading its data';
  if (field('role') === 'slave') return 'a read-only replica';
  if (field('aof_last_write_status') === 'err') return 'cannot write its append-only file';
  const max = Number(field('maxmemory'));
  if (max > 0 && Number(field('used_memory')) > max * fullAt) return `above ${fullAt * 100} % of maxmemory`;
  return null;
}
