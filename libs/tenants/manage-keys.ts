/** /v1/organization/domains/:domainId/keys: who may record for a domain. A key is shown once, when it is made. */

import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { listOf } from '#libs/base/http/list';
import { domainPath, listQuery, noQuery } from '#libs/base/terms/parameters';
import { Problem } from '#libs/base/terms/problem';
import { createAdministration } from './administration.ts';
import { accessIn, organizationIn } from './bearer.ts';
import { type Key, type KeysPage, keyPath, type MadeKey } from './contract.ts';
import { forChanges } from './in-turns.ts';
import { type ListedKey, listKeys as readKeys } from './keys.ts';
import { findOwnDomain } from './own-domain.ts';
import { toQuotaProblem } from './quota.ts';
import { Archived } from './refusals.ts';
import { domainArchived } from './rules.ts';
import type { SharedPlaces } from './shared-places.ts';

interface Parts {
  db: Database;
  places: Pick<SharedPlaces, 'changes'>;
}

/** Newest first, with those that are revoked. */
export const listKeys = ({ db }: Parts): Middleware =>
  guard({ params: domainPath, query: listQuery }, async (ctx, { params: { domainId }, query }) => {
    const list = listOf('key', query, { cursorKey: organizationIn(ctx).cursorKey, domainId });
    await findOwnDomain(ctx, db, domainId);
    const { page, nextCursor } = await list((range) => db.run((sql) => readKeys(sql, { domainId, ...range })));
    const answer: KeysPage = { keys: page.map(toAnswer), nextCursor };
    ctx.body = answer;
  });

export const createKey = ({ config, db, places }: Parts & { config: { quotas: { keys: number } } }): Middleware =>
  guard({ params: domainPath, query: noQuery }, async (ctx, { params: { domainId } }) => {
    await findOwnDomain(ctx, db, domainId);
    try {
      const admin = createAdministration(forChanges(db, places, ctx), accessIn(ctx).subject);
      const { key, apiKey } = await admin.createKey(domainId, config.quotas.keys);
      const answer: MadeKey = { ...toAnswer(key), apiKey };
      ctx.status = 201;
      ctx.body = answer;
    } catch (error) {
      throw error instanceof Archived ? domainArchived() : toQuotaProblem(error);
    }
  });

export const revokeKey = ({ db, places }: Parts): Middleware =>
  guard({ params: keyPath, query: noQuery }, async (ctx, { params: { domainId, prefix } }) => {
    await findOwnDomain(ctx, db, domainId);
    const admin = createAdministration(forChanges(db, places, ctx), accessIn(ctx).subject);
    const key = await admin.revokeListedKey(domainId, prefix);
    if (!key) throw new Problem('key_not_found', 'this domain has no such key');
    ctx.body = toAnswer(key);
  });

const toAnswer = ({ prefix, createdAt, lastUsedAt, revokedAt }: ListedKey): Key => ({
  prefix,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  revokedAt: revokedAt?.toISOString() ?? null,
});
