/** Drift: counters that differ between Redis and Postgres although no raise is pending. */
import { type Breakdown, type Counter, decisions, emptyBreakdown } from '#libs/contract/terms';
import type { RedisConnection } from '#libs/runtime/redis';
import { keysKey, parseKey, unpack } from './keys.ts';

export interface Difference {
  organizationId: string;
  domainId: string;
  period: string;
  redis: Breakdown;
  postgres: Breakdown;
}

type Held = Map<string, Counter>;
const nameOf = ({ domainId, period }: { domainId: string; period: string }) => `${domainId} ${period}`;

/** All counters of an organization in Redis, from `since` (`YYYY-MM-DD`) on. */
async function holdings(connection: RedisConnection, organizationId: string, since: string): Promise<Held> {
  const keys = await connection.client.smembers(keysKey(organizationId));
  const held: Held = new Map();
  await Promise.all(
    keys.map(async (key) => {
      const { domainId, month } = parseKey(organizationId, key);
      if (month && month < since.slice(0, 7)) return;
      for (const [field, packed] of Object.entries(await connection.client.hgetall(key))) {
        const period = month ? `${month}-${field}` : field;
        if (period < since.slice(0, period.length)) continue;
        held.set(nameOf({ domainId, period }), { organizationId, domainId, period, ...unpack(packed) });
      }
    }),
  );
  return held;
}

const isAhead = (one: Breakdown, other: Breakdown) => decisions.some((decision) => one[decision] > other[decision]);

/**
 * Counters that differ, from `since` on. Redis is read first, so a count above Postgres is certainly wrong. For a count
 * below, a raise may be pending: it is reported only if it is still below after `patience` milliseconds.
 */
export async function findDrift(
  connection: RedisConnection,
  organizationId: string,
  options: { since: string; patience: number; listCounters: () => Promise<Counter[]> },
): Promise<{ checked: number; differences: Difference[] }> {
  const before = await holdings(connection, organizationId, options.since);
  const truth = new Map((await options.listCounters()).map((counter) => [nameOf(counter), counter]));
  const compare = (held: Held, wrong: (redis: Breakdown, postgres: Breakdown) => boolean): Difference[] =>
    [...new Set([...truth.keys(), ...held.keys()])].flatMap((name) => {
      const counter = truth.get(name) ?? held.get(name);
      const redis = toBreakdown(held.get(name));
      const postgres = toBreakdown(truth.get(name));
      if (!counter || !wrong(redis, postgres)) return [];
      return [{ organizationId, domainId: counter.domainId, period: counter.period, redis, postgres }];
    });
  const ahead = compare(before, (redis, postgres) => isAhead(redis, postgres));
  const behind = (held: Held) => compare(held, (redis, postgres) => isAhead(postgres, redis));
  if (behind(before).length === 0) return { checked: truth.size, differences: ahead };
  await new Promise((resolve) => setTimeout(resolve, options.patience));
  const late = behind(await holdings(connection, organizationId, options.since));
  return { checked: truth.size, differences: [...ahead, ...late] };
}

const toBreakdown = (counter: Breakdown = emptyBreakdown()): Breakdown => ({
  accept_all: counter.accept_all,
  reject_all: counter.reject_all,
  custom: counter.custom,
  withdraw: counter.withdraw,
});
