/** /v1/organization: what an organization changes about itself, and who did what. */

import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { type Binding, makeMergedCursor, readMergedCursor } from '#libs/base/http/cursor';
import { changedMeanwhile, requiredVersion, setVersion, tagOf } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import { type ListQuery, listOf } from '#libs/base/http/list';
import { isAllowed } from '#libs/base/terms/origin';
import { Problem } from '#libs/base/terms/problem';
import { type ActFilters, type ActsPosition, listActs as readActs } from './acts.ts';
import { createAdministration } from './administration.ts';
import type { Around, Unchanged } from './audited-change.ts';
import { accessIn, organizationIn } from './bearer.ts';
import type {
  ActsPage,
  ManagedDomain as Answer,
  DomainsPage,
  Key,
  KeysPage,
  MadeKey,
  RevokedToken,
  ShownDomain,
} from './contract.ts';
import { type ManagedDomain, listDomains as readDomains } from './domains.ts';
import { answerOnce } from './idempotency.ts';
import { listIgnoredFields } from './ignored-fields.ts';
import { type ListedKey, listKeys as readKeys } from './keys.ts';
import { Archived, toQuotaProblem } from './refused-changes.ts';
import { listRefusedOrigins, type RefusedOrigin } from './refused-origins.ts';
import { domainArchived, domainNotFound, findOwnDomain } from './requirements.ts';
import { manageRoutes as routes } from './routes.ts';

interface Parts {
  db: Database;
}

export const getDomains = ({ db }: Parts): Middleware =>
  guard(routes.getDomains, async (ctx, { query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const list = listOf('domain', query, { cursorKey, domainId: '' });
    const { page, nextCursor } = await list((range) =>
      db.read((sql) => readDomains(sql, { organizationId, ...range })),
    );
    const answer: DomainsPage = { domains: page.map(toDomain), nextCursor };
    ctx.body = answer;
  });

export const createDomain = ({ config, ...parts }: Parts & { config: { quotas: { domains: number } } }): Middleware =>
  guard(routes.createDomain, async (ctx, { body }) => {
    const { name, origins = [] } = body;
    const { organizationId } = organizationIn(ctx);
    const { domains: quota } = config.quotas;
    const make = (around: Around | undefined) =>
      adminOf(parts, ctx, around)
        .createDomain(organizationId, { name, origins }, quota)
        .catch((error: unknown) => {
          throw toQuotaProblem(error);
        });
    await answerOnce(ctx, { body }, make, (made) => ({ status: 201, body: toDomain(made), etag: tagOf(made) }));
  });

export const getDomain = (parts: Parts): Middleware =>
  guard(routes.getDomain, async (ctx, { params }) => {
    const domain = await findOwnDomain(ctx, parts.db, params.domainId);
    const [refused, ignored] = await Promise.all([
      parts.db.read((sql) => listRefusedOrigins(sql, domain.number)),
      parts.db.read((sql) => listIgnoredFields(sql, domain.number)),
    ]);
    setVersion(ctx, domain);
    const answer: ShownDomain = {
      ...toDomain(domain),
      refusedOrigins: stillRefused(domain, refused),
      ignoredFields: ignored.map((each) => ({ ...each, ignoredAt: each.ignoredAt.toISOString() })),
    };
    ctx.body = answer;
  });

export const changeDomain = (parts: Parts): Middleware =>
  guard(routes.changeDomain, async (ctx, { params, body: change }) => {
    const { organizationId, domainId, ...found } = await findOwnDomain(ctx, parts.db, params.domainId);
    const version = requiredVersion(ctx, found);
    show(ctx, requireChanged(await adminOf(parts, ctx).changeDomain(organizationId, domainId, change, version)));
  });

/** Its log and its figures stay. */
export const archiveDomain = (parts: Parts): Middleware =>
  guard(routes.archiveDomain, async (ctx, { params }) => {
    const { organizationId, domainId, ...found } = await findOwnDomain(ctx, parts.db, params.domainId);
    const version = requiredVersion(ctx, found);
    show(ctx, requireChanged(await adminOf(parts, ctx).archiveDomain(organizationId, domainId, version)));
  });

const adminOf = ({ db }: Parts, ctx: Context, around?: Around) =>
  createAdministration(db, accessIn(ctx).subject, around);

function requireChanged(changed: ManagedDomain | Unchanged): ManagedDomain {
  if (changed === 'changed meanwhile') throw changedMeanwhile();
  if (changed === 'not found') throw domainNotFound();
  return changed;
}

function show(ctx: Context, domain: ManagedDomain): void {
  setVersion(ctx, domain);
  ctx.body = toDomain(domain);
}

const toDomain = ({ domainId, name, origins, createdAt, archivedAt }: ManagedDomain): Answer => ({
  domainId,
  name,
  origins,
  createdAt: createdAt.toISOString(),
  archivedAt: archivedAt?.toISOString() ?? null,
});

const stillRefused = ({ origins }: ManagedDomain, refused: RefusedOrigin[]): ShownDomain['refusedOrigins'] =>
  refused
    .filter(({ origin }) => !isAllowed(origins, origin))
    .map(({ origin, refusedAt }) => ({ origin, refusedAt: refusedAt.toISOString() }));

export const getKeys = ({ db }: Parts): Middleware =>
  guard(routes.getKeys, async (ctx, { params: { domainId }, query }) => {
    const list = listOf('key', query, { cursorKey: organizationIn(ctx).cursorKey, domainId });
    await findOwnDomain(ctx, db, domainId);
    const { page, nextCursor } = await list((range) => db.read((sql) => readKeys(sql, { domainId, ...range })));
    const answer: KeysPage = { keys: page.map(toKey), nextCursor };
    ctx.body = answer;
  });

export const createKey = ({
  config,
  db,
}: Parts & { config: { quotas: { keys: number }; secretsKey: Buffer | undefined } }): Middleware =>
  guard(routes.createKey, async (ctx, { params: { domainId } }) => {
    await findOwnDomain(ctx, db, domainId);
    try {
      await answerOnce(
        ctx,
        { secretsKey: { key: config.secretsKey } },
        (around) => adminOf({ db }, ctx, around).createKey(domainId, config.quotas.keys),
        ({ key, apiKey }) => {
          const answer: MadeKey = { ...toKey(key), apiKey };
          return { status: 201, body: answer };
        },
      );
    } catch (error) {
      throw error instanceof Archived ? domainArchived() : toQuotaProblem(error);
    }
  });

export const revokeKey = ({ db }: Parts): Middleware =>
  guard(routes.revokeKey, async (ctx, { params: { domainId, prefix } }) => {
    await findOwnDomain(ctx, db, domainId);
    const admin = adminOf({ db }, ctx);
    const key = await admin.revokeListedKey(domainId, prefix);
    if (!key) throw new Problem('key_not_found', 'this domain has no such key');
    ctx.body = toKey(key);
  });

const toKey = ({ prefix, createdAt, lastUsedAt, revokedAt }: ListedKey): Key => ({
  prefix,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  revokedAt: revokedAt?.toISOString() ?? null,
});

export const revokeToken = ({
  config,
  db,
}: Parts & { config: { tokens: { maxLifetime: number | undefined } } }): Middleware =>
  guard(routes.revokeToken, async (ctx, { body: { jti } }) => {
    const admin = adminOf({ db }, ctx);
    const { organizationId } = organizationIn(ctx);
    const revoked = await admin.revokeToken(organizationId, jti, config.tokens.maxLifetime).catch((error: unknown) => {
      throw toQuotaProblem(error);
    });
    const answer: RevokedToken = { jti, revokedAt: revoked.revokedAt.toISOString() };
    ctx.body = answer;
  });

const defaultLimit = 50;

export const getActs = ({ db }: Parts): Middleware =>
  guard(routes.getActs, async (ctx, { query: { limit, cursor, ...filters } }) => {
    ctx.body = await pageOfActs(ctx, db, { limit, cursor }, filters);
  });

/** A page of acts of the token's organization. `hash`: only those about this visitor. */
export async function pageOfActs(
  ctx: Context,
  db: Database,
  { limit = defaultLimit, cursor }: ListQuery,
  { hash, ...filters }: ActFilters & { hash?: Uint8Array },
): Promise<ActsPage> {
  const { organizationId, cursorKey } = organizationIn(ctx);
  const visitor = hash && Buffer.from(hash).toString('hex');
  const binding = { cursorKey, domainId: '', filters: { ...filters, visitor } };
  const after = cursor === undefined ? undefined : readPosition(cursor, binding);
  const { acts, next } = await db.read((sql) => readActs(sql, { organizationId, limit, after, hash, ...filters }));
  return {
    acts: acts.map(({ at, actor, act, subject, details }) => ({ at: at.toISOString(), actor, act, subject, details })),
    nextCursor: next && makeMergedCursor('act', next.administrative, next.visitor, binding),
  };
}

function readPosition(cursor: string, binding: Binding): ActsPosition {
  const [administrative, visitor] = readMergedCursor(cursor, binding);
  return { administrative, visitor };
}
