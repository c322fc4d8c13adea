/**
 * Reading the log filtered by visitor is an administrative act. Pages are requested again and again, so the reads of one
 * visitor with one token are one act a minute.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '#libs/base/db/database';
import type { AccessToken } from './access-token.ts';
import { addVisitorAct, createVisitorHash } from './visitors.ts';

const remembered = { max: 10_000, ttl: 60_000 };

export type NoteVisitorRead = (access: AccessToken, domainId: string, visitorId: string) => Promise<void>;

export function createVisitorReads(deps: {
  config: { privacyKey: Buffer | undefined };
  db: Database;
}): NoteVisitorRead {
  const noted = new LRUCache<string, true>(remembered);
  const hashOf = deps.config.privacyKey && createVisitorHash(deps.config.privacyKey);
  return async ({ organizationId, subject: actor, countedAs }, domainId, visitorId) => {
    const hash = hashOf?.(organizationId, visitorId) ?? null;
    const key = `${countedAs} ${domainId} ${hash?.toString('base64') ?? ''}`;
    if (noted.has(key)) return;
    await deps.db.write((sql) => addVisitorAct(sql, { organizationId, domainId, actor, act: 'visitor.read', hash }));
    noted.set(key, true);
  };
}
