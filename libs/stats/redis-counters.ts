/**
 * How counters are laid out in Redis, and the only two operations that change them: raise and drop. The four counts of a
 * counter are one field, `accept_all reject_all custom withdraw`, so that a domain's month stays one small listpack. All
 * keys of an organization share a hash tag, hence a cluster slot. For each domain, one hash per month holds the days, and
 * one hash holds the months. The whole organization has the same hashes.
 */
import { readFileSync } from 'node:fs';
import type { RedisClient } from '#libs/base/redis/connection';
import { firstDay, isMonth, lastDay, monthOfDay, monthsBetween, type Span } from '#libs/base/terms/calendar';
import { type Breakdown, type Counter, emptyBreakdown, type PackedCounters } from '#libs/base/terms/terms';

const prefix = (organizationId: string) => `assent:{${organizationId}}`;

/** Holds the run_id of the server whose counters are complete. */
export const readyKey = (organizationId: string): string => `${prefix(organizationId)}:ready`;
/** Holds the nonce of the running fill. */
export const fillKey = (organizationId: string): string => `${prefix(organizationId)}:fill`;
/** The set of the organization's counter keys, so that all can be dropped. */
export const keysKey = (organizationId: string): string => `${prefix(organizationId)}:keys`;

/**
 * The key of the hash with a domain's days in `month`, or with its months if `month` is ''. `domainId` '' is the whole
 * organization.
 */
export const hashKey = (organizationId: string, domainId: string, month: string): string =>
  month === '' ? `${prefix(organizationId)}:months:${domainId}` : `${prefix(organizationId)}:days:${domainId}:${month}`;

const monthOfHash = (period: string): string => (isMonth(period) ? '' : monthOfDay(period));
export const counterField = (period: string): string => (isMonth(period) ? period : period.slice(8));

/** The key of the hash that holds a counter; `counterField` is its field there. */
export const counterKey = (organizationId: string, domainId: string, period: string): string =>
  hashKey(organizationId, domainId, monthOfHash(period));

/** A part of a hash: its fields from `first` to `last`. */
export interface Fields {
  key: string;
  first: string;
  last: string;
  /** what to put before a field to get its period: `YYYY-MM-` for days, '' for months */
  periodPrefix: string;
}

/** The fields that hold the counters of `spans`. */
export const fieldsOf = (organizationId: string, domainId: string, spans: Span[]): Fields[] =>
  spans.flatMap(({ from, to }) => {
    if (isMonth(from)) {
      return [{ key: counterKey(organizationId, domainId, from), first: from, last: to, periodPrefix: '' }];
    }
    return monthsBetween(from, to).map((month) => ({
      key: counterKey(organizationId, domainId, firstDay(month)),
      first: counterField(month === monthOfDay(from) ? from : firstDay(month)),
      last: counterField(month === monthOfDay(to) ? to : lastDay(month)),
      periodPrefix: `${month}-`,
    }));
  });

/** The inverse of `hashKey`. */
export function parseKey(organizationId: string, key: string): { domainId: string; month: string } {
  const [kind, domainId = '', month = ''] = key.slice(prefix(organizationId).length + 1).split(':');
  return { domainId, month: kind === 'days' ? month : '' };
}

/** The field, then the four counts: the form in which the scripts expect a counter. */
const pack = ({ period, accept_all, reject_all, custom, withdraw }: Counter): string =>
  `${counterField(period)} ${accept_all} ${reject_all} ${custom} ${withdraw}`;

/** The four counts of a field; a malformed one counts as 0, here as in the scripts. */
export function unpack(packed: string): Breakdown {
  if (!/^\d+ \d+ \d+ \d+$/.test(packed)) return emptyBreakdown();
  const [accept_all = 0, reject_all = 0, custom = 0, withdraw = 0] = packed.split(' ').map(Number);
  return { accept_all, reject_all, custom, withdraw };
}

/** The Lua scripts as commands of the client. */
const lua = (name: string) => readFileSync(new URL(`./redis/${name}.lua`, import.meta.url), 'utf8');
const sources = {
  assentRaise: lua('raise'),
  assentRead: lua('read'),
  assentSum: lua('sum'),
  assentReady: lua('ready'),
  assentDrop: lua('drop'),
  assentDiffer: lua('differ'),
  assentLease: lua('lease'),
};

type Script = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<unknown>;
export type Scripts = Record<keyof typeof sources, Script>;

const isScripted = (client: RedisClient): client is RedisClient & Scripts => 'assentRaise' in client;

/** Defines the scripts on `client` once. */
export function scripted(client: RedisClient): RedisClient & Scripts {
  if (!isScripted(client))
    for (const [name, source] of Object.entries(sources)) client.defineCommand(name, { lua: source });
  if (!isScripted(client)) throw new Error('the client did not take the scripts');
  return client;
}

/** Hashes per script call, limited because Redis does nothing else meanwhile. */
const atOnce = 200;
const dropAtOnce = 1_000;

/**
 * Raises each counter to at least the given counts. A script call covers up to `atOnce` hashes of one organization; all
 * calls are sent without waiting for each other.
 */
export async function raise(client: RedisClient, counters: Counter[]): Promise<void> {
  const organizations = new Map<string, Map<string, string>>();
  for (const counter of counters) {
    const { organizationId, domainId, period } = counter;
    const hashes = organizations.get(organizationId) ?? new Map<string, string>();
    organizations.set(organizationId, hashes);
    const key = counterKey(organizationId, domainId, period);
    const before = hashes.get(key);
    hashes.set(key, before === undefined ? pack(counter) : `${before};${pack(counter)}`);
  }
  await Promise.all(
    Array.from(organizations, ([organizationId, hashes]) => raiseHashes(client, organizationId, [...hashes])),
  );
}

/** The same for counters of one organization that Postgres has packed. */
export const raisePacked = (client: RedisClient, organizationId: string, packed: PackedCounters[]): Promise<void> =>
  raiseHashes(
    client,
    organizationId,
    packed.map(({ domainId, month, counters }) => [hashKey(organizationId, domainId, month), counters]),
  );

async function raiseHashes(client: RedisClient, organizationId: string, hashes: [key: string, counters: string][]) {
  const redis = scripted(client);
  const scripts: Promise<unknown>[] = [];
  for (let at = 0; at < hashes.length; at += atOnce) {
    const some = hashes.slice(at, at + atOnce);
    const keys = [keysKey(organizationId), ...some.map(([key]) => key)];
    scripts.push(redis.assentRaise(keys.length, ...keys, ...some.map(([, counters]) => counters)));
  }
  await Promise.all(scripts);
}

/**
 * Whether this error means that one of the counter keys has the wrong type, because somebody else has written it. Only
 * `drop` repairs that.
 */
export const hasWrongType = (error: unknown): boolean => error instanceof Error && error.message.includes('WRONGTYPE');

/** Deletes all counters of an organization from Redis; reads come from Postgres until a fill restores them. */
export async function drop(client: RedisClient, organizationId: string): Promise<void> {
  const keys = [readyKey(organizationId), fillKey(organizationId), keysKey(organizationId)];
  while ((await scripted(client).assentDrop(keys.length, ...keys, dropAtOnce)) === dropAtOnce);
}
