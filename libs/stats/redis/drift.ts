/**
 * Drift: counters that differ between Redis and Postgres although no raise is pending. Counters that differ once are only
 * suspected, because raises continue; all suspected ones are compared again together.
 */

import pLimit from 'p-limit';
import type { RedisConnection } from '#libs/base/redis/connection';
import { type Breakdown, decisions, emptyBreakdown, type PackedCounters } from '#libs/base/terms/terms';
import { hashKey, hasWrongType, keysKey, parseKey, scripted, unpack } from '../redis-counters.ts';

export interface Difference {
  organizationId: string;
  domainId: string;
  period: string;
  redis: Breakdown;
  postgres: Breakdown;
}

/** hashes read from Redis at once, and domains read from Postgres at once */
const atOnce = 100;
/** organizations confirmed at once: after a restore, all may be suspected */
const confirmedAtOnce = 10;

const isAhead = (one: Breakdown, other: Breakdown) => decisions.some((decision) => one[decision] > other[decision]);

/**
 * Returns the suspected counters that differ. Redis is read first, so a count above Postgres is certainly wrong. A count
 * below may have a raise pending, so it is reported only if Redis is still below that Postgres value `wait` milliseconds
 * later. All share one wait.
 */
export async function confirm(redis: RedisConnection, suspicions: Suspicion[], wait: number): Promise<Difference[]> {
  const differences: Difference[] = [];
  const behind: Suspicion[] = [];
  const expected = new Map<Suspicion, Map<string, Placed>>();
  const limit = pLimit(confirmedAtOnce);
  const look = async (suspicion: Suspicion) => {
    const held = await holdings(redis, suspicion);
    const truth = await truthOf(suspicion);
    differences.push(...compare(suspicion, held, truth, isAhead));
    if (compare(suspicion, held, truth, isBehind).length === 0) return;
    behind.push(suspicion);
    expected.set(suspicion, truth);
  };
  await limit.map(
    suspicions.filter(({ hashes }) => hashes.length > 0),
    look,
  );
  if (behind.length === 0) return differences;
  await new Promise((resolve) => setTimeout(resolve, wait));
  const lookAgain = async (suspicion: Suspicion) => {
    const held = await holdings(redis, suspicion);
    differences.push(...compare(suspicion, held, expected.get(suspicion) ?? new Map(), isBehind));
  };
  await limit.map(behind, lookAgain);
  return differences;
}

/** Some count is behind Postgres and none is ahead. Counters that are ahead have been reported already. */
const isBehind = (redis: Breakdown, postgres: Breakdown) => isAhead(postgres, redis) && !isAhead(redis, postgres);

interface Placed {
  domainId: string;
  period: string;
  counts: Breakdown;
}

function compare(
  { organizationId }: Suspicion,
  held: Map<string, Placed>,
  truth: Map<string, Placed>,
  isWrong: (redis: Breakdown, postgres: Breakdown) => boolean,
): Difference[] {
  return [...new Map([...held, ...truth])].flatMap(([name, { domainId, period }]) => {
    const redis = held.get(name)?.counts ?? emptyBreakdown();
    const postgres = truth.get(name)?.counts ?? emptyBreakdown();
    return isWrong(redis, postgres) ? [{ organizationId, domainId, period, redis, postgres }] : [];
  });
}

async function holdings({ client }: RedisConnection, suspicion: Suspicion): Promise<Map<string, Placed>> {
  const held = new Map<string, Placed>();
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

async function truthOf({ hashes, truth, since }: Suspicion): Promise<Map<string, Placed>> {
  const wanted = new Set(hashes.map(({ domainId, month }) => `${domainId} ${month}`));
  const domainIds = [...new Set(hashes.map(({ domainId }) => domainId))];
  const places = new Map<string, Placed>();
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

function put(places: Map<string, Placed>, { domainId, month }: Hash, fields: [string, string][], since: string) {
  for (const [field, counts] of fields) {
    const period = month === '' ? field : `${month}-${field}`;
    if (period >= since.slice(0, period.length))
      places.set(`${domainId} ${period}`, { domainId, period, counts: unpack(counts) });
  }
}

/** Suspects and then confirms, for one organization. */
export async function findDrift(
  redis: RedisConnection,
  subject: Subject,
  wait: number,
): Promise<{ checked: number; differences: Difference[] }> {
  const { checked, ...suspicion } = await suspect(redis, subject);
  return { checked, differences: await confirm(redis, [suspicion], wait) };
}

/** Postgres' counters of an organization, for days and months from some day on. */
export interface Truth {
  /** All of them if the organization is small, otherwise undefined. */
  listFew?(): Promise<(PackedCounters & { n: number })[] | undefined>;
  listDomains(after: string, limit: number): Promise<string[]>;
  listCounters(domainIds: string[]): Promise<(PackedCounters & { n: number })[]>;
}

interface Subject {
  organizationId: string;
  /** `YYYY-MM-DD`: older days and months are not compared */
  since: string;
  truth: Truth;
}

type Hash = Pick<PackedCounters, 'domainId' | 'month'>;

export interface Suspicion extends Subject {
  hashes: Hash[];
}

/** domains whose counters are read at once, hashes that one script compares, keys that are listed at once */
const domainsAtOnce = 100;
const hashesAtOnce = 100;
const keysAtOnce = 1_000;

/** A key among the counters is not a hash: somebody else has written it. Only dropping all counters repairs that. */
export class WrongTypeKey extends Error {
  constructor(organizationId: string) {
    super(
      `a key among the counters of ${organizationId} in Redis has the wrong type; see: assent counters rebuild --org`,
    );
  }
}

/**
 * Compares an organization once: returns its number of counters, and the hashes that differ. Rejects with WrongTypeKey if
 * they cannot be compared.
 */
export const suspect = (redis: RedisConnection, subject: Subject): Promise<Suspicion & { checked: number }> =>
  compareHashes(redis, subject).catch((error: unknown) => {
    throw hasWrongType(error) ? new WrongTypeKey(subject.organizationId) : error;
  });

async function compareHashes(redis: RedisConnection, subject: Subject): Promise<Suspicion & { checked: number }> {
  const { organizationId, truth } = subject;
  // Redis is listed first, so a counter that Postgres does not have afterwards is certainly wrong
  const left = await listKeys(redis, subject);
  const hashes: Hash[] = [];
  let checked = 0;
  const take = async (counters: (PackedCounters & { n: number })[]) => {
    hashes.push(...(await listDifferent(redis, subject, counters)));
    for (const { n, domainId, month } of counters) {
      checked += n;
      left.delete(hashKey(organizationId, domainId, month));
    }
  };
  const few = await truth.listFew?.();
  if (few) await take(few);
  else {
    let domainIds = [''];
    let last = '';
    do {
      const listed = await truth.listDomains(last, domainsAtOnce);
      await take(await truth.listCounters([...domainIds, ...listed]));
      domainIds = [];
      last = listed.length === domainsAtOnce ? (listed.at(-1) ?? '') : '';
    } while (last !== '');
  }
  const strange = [...left].map((key) => parseKey(organizationId, key));
  // not all of these are wrong: a domain without recent decisions still has its hash of months. Only its fields from
  // `since` on are compared
  const nothing = strange.map((hash) => ({ ...hash, counters: '' }));
  hashes.push(...(await listDifferent(redis, subject, nothing)));
  return { ...subject, hashes, checked };
}

/** The organization's hashes that may hold counters from `since` on. */
async function listKeys({ client }: RedisConnection, { organizationId, since }: Subject): Promise<Set<string>> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await client.sscan(keysKey(organizationId), cursor, 'COUNT', keysAtOnce);
    for (const key of keys) {
      const { month } = parseKey(organizationId, key);
      if (month === '' || month >= since.slice(0, 7)) found.add(key);
    }
    cursor = next;
  } while (cursor !== '0');
  return found;
}

async function listDifferent(
  { client }: RedisConnection,
  { organizationId, since }: Subject,
  expected: PackedCounters[],
): Promise<Hash[]> {
  const different: Hash[] = [];
  for (let at = 0; at < expected.length; at += hashesAtOnce) {
    const some = expected.slice(at, at + hashesAtOnce);
    const keys = some.map(({ domainId, month }) => hashKey(organizationId, domainId, month));
    const given = some.flatMap(({ month, counters }) => [firstField(month, since), counters]);
    const indexes = await scripted(client).assentDiffer(keys.length, ...keys, ...given);
    for (const index of Array.isArray(indexes) ? indexes : []) {
      const hash = some[Number(index) - 1];
      if (hash) different.push({ domainId: hash.domainId, month: hash.month });
    }
  }
  return different;
}

/** The first field in the hash of `month` that is not before `since`; '' if none is before it. */
function firstField(month: string, since: string): string {
  if (month === '') return since.slice(0, 7);
  return month === since.slice(0, 7) ? since.slice(8) : '';
}
