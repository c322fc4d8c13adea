/** The first look for drift: whole hashes are compared with Postgres' counters, in Redis. */

import type { RedisConnection } from '#libs/base/redis/connection';
import type { PackedCounters } from '#libs/base/terms/terms';
import { hashKey, keysKey, parseKey } from './keys.ts';
import { scripted } from './scripts.ts';

/** Postgres' counters of an organization, for days and months from some day on. */
export interface Truth {
  listDomains(after: string, limit: number): Promise<string[]>;
  listCounters(domainIds: string[]): Promise<(PackedCounters & { n: number })[]>;
}

export interface Subject {
  organizationId: string;
  /** `YYYY-MM-DD`: older days and months are not looked at */
  since: string;
  truth: Truth;
}

export type Hash = Pick<PackedCounters, 'domainId' | 'month'>;

export interface Suspicion extends Subject {
  hashes: Hash[];
}

/** domains whose counters are read at once, hashes that one script compares, keys that are listed at once */
const domainsAtOnce = 100;
const hashesAtOnce = 100;
const keysAtOnce = 1_000;

/** A key among the counters that is no hash: somebody has put it there. Only dropping all of them helps. */
export class StrangeKey extends Error {
  constructor(organizationId: string) {
    super(
      `a key among the counters of ${organizationId} in Redis has the wrong type; see: assent counters rebuild --org`,
    );
  }
}

/**
 * Compares an organization once: how many counters it has, and the hashes that do not hold exactly these. Rejects with
 * StrangeKey where they cannot be compared.
 */
export const suspect = (connection: RedisConnection, subject: Subject): Promise<Suspicion & { checked: number }> =>
  compare(connection, subject).catch((error: unknown) => {
    const isStrange = error instanceof Error && error.message.includes('WRONGTYPE');
    throw isStrange ? new StrangeKey(subject.organizationId) : error;
  });

async function compare(connection: RedisConnection, subject: Subject): Promise<Suspicion & { checked: number }> {
  const { organizationId, truth } = subject;
  // read first: what is in Redis now and never in Postgres is surely wrong
  const left = await listKeys(connection, subject);
  const hashes: Hash[] = [];
  let checked = 0;
  let domainIds = [''];
  let last = '';
  do {
    const listed = await truth.listDomains(last, domainsAtOnce);
    const counters = await truth.listCounters([...domainIds, ...listed]);
    hashes.push(...(await listDifferent(connection, subject, counters)));
    for (const { n, domainId, month } of counters) {
      checked += n;
      left.delete(hashKey(organizationId, domainId, month));
    }
    domainIds = [];
    last = listed.length === domainsAtOnce ? (listed.at(-1) ?? '') : '';
  } while (last !== '');
  const strange = [...left].map((key) => parseKey(organizationId, key));
  // a domain that has had no decision for long has a hash of months all the same
  const nothing = strange.map((hash) => ({ ...hash, counters: '' }));
  hashes.push(...(await listDifferent(connection, subject, nothing)));
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
    const places = await scripted(client).assentDiffer(keys.length, ...keys, ...given);
    for (const place of Array.isArray(places) ? places : []) {
      const hash = some[Number(place) - 1];
      if (hash) different.push({ domainId: hash.domainId, month: hash.month });
    }
  }
  return different;
}

/** The first field of a hash of `month` that `since` includes. */
function firstField(month: string, since: string): string {
  if (month === '') return since.slice(0, 7);
  return month === since.slice(0, 7) ? since.slice(8) : '';
}
