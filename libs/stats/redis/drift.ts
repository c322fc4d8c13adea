/**
 * Drift: counters that differ between Redis and Postgres although no raise is pending. What differs at a first look is
 * only suspected, since raises go on; it is looked at again, together with all else that is suspected.
 */

import type { RedisConnection } from '#libs/base/redis/connection';
import { type Breakdown, decisions, emptyBreakdown } from '#libs/base/terms/terms';
import { hashKey, unpack } from './keys.ts';
import { type Hash, type Subject, type Suspicion, suspect } from './suspect.ts';

export interface Difference {
  organizationId: string;
  domainId: string;
  period: string;
  redis: Breakdown;
  postgres: Breakdown;
}

/** domains whose counters are read at once, and hashes */
const atOnce = 100;

const isAhead = (one: Breakdown, other: Breakdown) => decisions.some((decision) => one[decision] > other[decision]);

/**
 * Which suspected counters do differ. Redis is read first, so a count above Postgres is certainly wrong. For a count
 * below, a raise may be on its way: it differs if it is still below after `patience` milliseconds, one wait for all.
 */
export async function confirm(
  connection: RedisConnection,
  suspicions: Suspicion[],
  patience: number,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const behind: Suspicion[] = [];
  const expected = new Map<Suspicion, Map<string, Place>>();
  for (const suspicion of suspicions.filter(({ hashes }) => hashes.length > 0)) {
    const held = await holdings(connection, suspicion);
    const truth = await truthOf(suspicion);
    differences.push(...compare(suspicion, held, truth, isAhead));
    if (compare(suspicion, held, truth, isBehind).length === 0) continue;
    behind.push(suspicion);
    expected.set(suspicion, truth);
  }
  if (behind.length === 0) return differences;
  await new Promise((resolve) => setTimeout(resolve, patience));
  for (const suspicion of behind) {
    const held = await holdings(connection, suspicion);
    differences.push(...compare(suspicion, held, expected.get(suspicion) ?? new Map(), isBehind));
  }
  return differences;
}

/** In no count ahead: that is certain, and reported already. */
const isBehind = (redis: Breakdown, postgres: Breakdown) => isAhead(postgres, redis) && !isAhead(redis, postgres);

interface Place {
  domainId: string;
  period: string;
  counts: Breakdown;
}

function compare(
  { organizationId }: Suspicion,
  held: Map<string, Place>,
  truth: Map<string, Place>,
  isWrong: (redis: Breakdown, postgres: Breakdown) => boolean,
): Difference[] {
  return [...new Map([...held, ...truth])].flatMap(([name, { domainId, period }]) => {
    const redis = held.get(name)?.counts ?? emptyBreakdown();
    const postgres = truth.get(name)?.counts ?? emptyBreakdown();
    return isWrong(redis, postgres) ? [{ organizationId, domainId, period, redis, postgres }] : [];
  });
}

async function holdings({ client }: RedisConnection, suspicion: Suspicion): Promise<Map<string, Place>> {
  const held = new Map<string, Place>();
  for (let at = 0; at < suspicion.hashes.length; at += atOnce) {
    const some = suspicion.hashes.slice(at, at + atOnce);
    const found = await Promise.all(
      some.map(({ domainId, month }) => client.hgetall(hashKey(suspicion.organizationId, domainId, month))),
    );
    for (const [index, fields] of found.entries()) {
      const { domainId = '', month = '' } = some[index] ?? {};
      put(held, { domainId, month }, Object.entries(fields), suspicion.since);
    }
  }
  return held;
}

async function truthOf({ hashes, truth, since }: Suspicion): Promise<Map<string, Place>> {
  const wanted = new Set(hashes.map(({ domainId, month }) => `${domainId} ${month}`));
  const domainIds = [...new Set(hashes.map(({ domainId }) => domainId))];
  const places = new Map<string, Place>();
  for (let at = 0; at < domainIds.length; at += atOnce) {
    for (const hash of await truth.listCounters(domainIds.slice(at, at + atOnce))) {
      if (!wanted.has(`${hash.domainId} ${hash.month}`)) continue;
      const fields = hash.counters.split(';').map((each): [string, string] => {
        const space = each.indexOf(' ');
        return [each.slice(0, space), each.slice(space + 1)];
      });
      put(places, hash, fields, since);
    }
  }
  return places;
}

function put(places: Map<string, Place>, { domainId, month }: Hash, fields: [string, string][], since: string) {
  for (const [field, counts] of fields) {
    const period = month === '' ? field : `${month}-${field}`;
    if (period >= since.slice(0, period.length))
      places.set(`${domainId} ${period}`, { domainId, period, counts: unpack(counts) });
  }
}

/** Both steps for one organization. */
export async function findDrift(
  connection: RedisConnection,
  subject: Subject,
  patience: number,
): Promise<{ checked: number; differences: Difference[] }> {
  const { checked, ...suspicion } = await suspect(connection, subject);
  return { checked, differences: await confirm(connection, [suspicion], patience) };
}
