/**
 * Notes for the managers of a domain about requests with its key, such as refused origins. Keys are public and a preflight
 * needs none, so a flood must stay cheap and must not hide the notes of another domain: a note is written at most once a
 * minute, all together at most ten a second, in turns over organizations and over their domains, and no request waits for
 * it.
 */

import { LRUCache } from 'lru-cache';
import type { Database, Sql } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { TenantCache } from './tenant-cache.ts';

/** milliseconds */
const second = 1_000;
const minute = 60 * second;
const perSecond = 10;
/**
 * How many notes may wait. A domain stores only its newest anyway. Past `inAll`, only an organization with none waiting
 * adds one.
 */
const most = { inAll: 20_000, organizations: 10_000, domains: 100, ofDomain: 10 };

export interface FairNotes<Item> {
  note(domainId: string, item: Item): void;
}

interface NoteKind<Item> {
  write: (sql: Sql, domainId: string, item: Item) => Promise<unknown>;
  /** two notes of a domain with the same name count as one */
  nameOf: (item: Item) => string;
  /** false for an item that no browser sends */
  isAccepted: (item: Item) => boolean;
}

export interface NotedParts {
  db: Database;
  log: Pick<Log, 'debug'>;
  tenants: Pick<TenantCache, 'knownDomain'>;
}

export function createFairNotes<Item>(
  { db, log, tenants }: NotedParts,
  { write, nameOf, isAccepted }: NoteKind<Item>,
): FairNotes<Item> {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: minute });
  /** by organization and domain, in the order of their turns */
  const waiting = new Map<string, Map<string, Item[]>>();
  let since = Number.NEGATIVE_INFINITY;
  let writes = 0;
  let size = 0;
  let timer: NodeJS.Timeout | undefined;

  const tryToWrite = (domainId: string, item: Item) => {
    db.write((sql) => write(sql, domainId, item)).catch((error: unknown) => {
      log.debug({ err: error, domainId }, 'could not note what a domain refused or left out');
    });
  };
  /** Writes one note of each organization in turn, as many as this second still allows. */
  const writeSome = () => {
    timer = undefined;
    if (performance.now() - since >= second) {
      since = performance.now();
      writes = 0;
    }
    for (const [organizationId, domains] of waiting) {
      if (writes >= perSecond) break;
      waiting.delete(organizationId);
      const [next] = domains;
      if (!next) continue;
      const [domainId, [item, ...others]] = next;
      domains.delete(domainId);
      if (others.length > 0) domains.set(domainId, others);
      if (domains.size > 0) waiting.set(organizationId, domains);
      if (item === undefined) continue;
      size -= 1;
      writes += 1;
      tryToWrite(domainId, item);
    }
    if (waiting.size > 0) timer ??= setTimeout(writeSome, since + second - performance.now()).unref();
  };

  return {
    note: (domainId, item) => {
      if (!isAccepted(item)) return;
      const whole = `${domainId} ${nameOf(item)}`;
      const organizationId = tenants.knownDomain(domainId)?.organizationId ?? domainId;
      const domains = waiting.get(organizationId) ?? new Map<string, Item[]>();
      const others = domains.get(domainId) ?? [];
      const isFull =
        others.length >= most.ofDomain ||
        (others.length === 0 && domains.size >= most.domains) ||
        (domains.size === 0 ? waiting.size >= most.organizations : size >= most.inAll);
      if (noted.has(whole) || isFull) return;
      size += 1;
      noted.set(whole, true);
      waiting.set(organizationId, domains.set(domainId, [...others, item]));
      if (!timer) writeSome();
    },
  };
}
