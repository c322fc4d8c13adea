/** /v1/organization: what an organization changes about itself, and who did what. */

import type { Database } from '#libs/base/db/database';
import { type Binding, makeMergedCursor, readMergedCursor } from '#libs/base/http/cursor';
import { changedMeanwhile } from '#libs/base/http/etag';
import { type ListQuery, listOf } from '#libs/base/http/list';
import { isAllowed } from '#libs/base/terms/origin';
import { Problem } from '#libs/base/terms/problem';
import { type ActFilters, type ActsPosition, listActs as readActs } from './acts.ts';
import { createAdministration } from './administration.ts';
import type { Unchanged } from './audited-change.ts';
import type { ActsPage, ManagedDomain as DomainResponse, Key, ShownDomain } from './contract.ts';
import { domainChanges, type ManagedDomain, listDomains as readDomains } from './domains.ts';
import { endpoint } from './endpoint.ts';
import { listIgnoredFields } from './ignored-fields.ts';
import { keyChanges, type ListedKey, listKeys as readKeys } from './keys.ts';
import { listRefusedOrigins, type RefusedOrigin } from './refused-origins.ts';
import type { Reply } from './reply.ts';
import { domainNotFound, findOwnDomain } from './requirements.ts';
import { manageRoutes as routes } from './routes.ts';
import type { Organization } from './tenants.ts';

interface Parts {
  config: { quotas: { domains: number; keys: number }; tokens: { maxLifetime: number | undefined } };
  db: Database;
}

export const getDomains = endpoint(routes.getDomains, async ({ db }: Parts, { organization, query }) => {
  const { organizationId, cursorKey } = organization;
  const list = listOf('domain', query, { cursorKey, domainId: '' });
  const { page, nextCursor } = await list((range) => db.read((sql) => readDomains(sql, { organizationId, ...range })));
  return { body: { domains: page.map((each) => ({ ...toDomain(each), activeKeys: each.activeKeys })), nextCursor } };
});

export const createDomain = endpoint(routes.createDomain, async ({ config }: Parts, { organization, body, once }) => {
  const { origins = [], ...rest } = body;
  const { organizationId } = organization;
  return once('plain', async (perform) => {
    const domains = domainChanges(perform);
    return {
      status: 201,
      ...show(await domains.createDomain(organizationId, { ...rest, origins }, config.quotas.domains)),
    };
  });
});

export const getDomain = endpoint(routes.getDomain, async ({ db }: Parts, { organization, params }) => {
  const domain = await findOwnDomain(db, organization, params.domainId);
  const [refused, ignored] = await Promise.all([
    db.read((sql) => listRefusedOrigins(sql, domain.number)),
    db.read((sql) => listIgnoredFields(sql, domain.number)),
  ]);
  return {
    version: domain.version,
    body: {
      ...toDomain(domain),
      refusedOrigins: stillRefused(domain, refused),
      ignoredFields: ignored.map((each) => ({ ...each, ignoredAt: each.ignoredAt.toISOString() })),
    },
  };
});

export const changeDomain = endpoint(routes.changeDomain, async ({ db }: Parts, asked) => {
  const domain = await findOwnDomain(db, asked.organization, asked.params.domainId);
  const { organizationId, domainId } = domain;
  const admin = createAdministration(db, asked.actor);
  return show(requireChanged(await admin.changeDomain(organizationId, domainId, asked.body, asked.ifMatch(domain))));
});

/** Its log and statistics stay. */
export const archiveDomain = endpoint(routes.archiveDomain, async ({ db }: Parts, asked) => {
  const domain = await findOwnDomain(db, asked.organization, asked.params.domainId);
  const { organizationId, domainId } = domain;
  const admin = createAdministration(db, asked.actor);
  return show(requireChanged(await admin.archiveDomain(organizationId, domainId, asked.ifMatch(domain))));
});

function requireChanged(changed: ManagedDomain | Unchanged): ManagedDomain {
  if (changed === 'changed meanwhile') throw changedMeanwhile();
  if (changed === 'not found') throw domainNotFound();
  return changed;
}

const show = (domain: ManagedDomain): Reply<DomainResponse> => ({ version: domain.version, body: toDomain(domain) });

const toDomain = ({ domainId, name, origins, createdAt, archivedAt, ...rest }: ManagedDomain): DomainResponse => ({
  domainId,
  name,
  origins,
  validMonths: rest.validMonths,
  policyVersion: rest.policyVersion,
  createdAt: createdAt.toISOString(),
  archivedAt: archivedAt?.toISOString() ?? null,
});

const stillRefused = ({ origins }: ManagedDomain, refused: RefusedOrigin[]): ShownDomain['refusedOrigins'] =>
  refused
    .filter(({ origin }) => !isAllowed(origins, origin))
    .map(({ origin, refusedAt }) => ({ origin, refusedAt: refusedAt.toISOString() }));

export const getKeys = endpoint(routes.getKeys, async ({ db }: Parts, { organization, params, query }) => {
  const { domainId } = params;
  const list = listOf('key', query, { cursorKey: organization.cursorKey, domainId });
  await findOwnDomain(db, organization, domainId);
  const { page, nextCursor } = await list((range) => db.read((sql) => readKeys(sql, { domainId, ...range })));
  return { body: { keys: page.map(toKey), nextCursor } };
});

export const createKey = endpoint(routes.createKey, async ({ config, db }: Parts, { organization, params, once }) => {
  const { domainId } = params;
  await findOwnDomain(db, organization, domainId);
  return once('encrypted', async (perform) => {
    const { key, apiKey } = await keyChanges(perform).createKey(domainId, config.quotas.keys);
    return { status: 201, body: { ...toKey(key), apiKey } };
  });
});

export const revokeKey = endpoint(routes.revokeKey, async ({ db }: Parts, { organization, actor, params }) => {
  const { domainId, prefix } = params;
  await findOwnDomain(db, organization, domainId);
  const key = await createAdministration(db, actor).revokeListedKey(domainId, prefix);
  if (!key) throw new Problem('key_not_found', 'this domain has no such key');
  return { body: toKey(key) };
});

const toKey = ({ prefix, createdAt, lastUsedAt, revokedAt, isOfPage }: ListedKey): Key => ({
  prefix,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  revokedAt: revokedAt?.toISOString() ?? null,
  isOfPage,
});

export const revokeToken = endpoint(
  routes.revokeToken,
  async ({ config, db }: Parts, { organization, actor, body }) => {
    const admin = createAdministration(db, actor);
    const revoked = await admin.revokeToken(organization.organizationId, body.jti, config.tokens.maxLifetime);
    return { body: { jti: revoked.jti, revokedAt: revoked.revokedAt.toISOString() } };
  },
);

const defaultLimit = 50;

export const getActs = endpoint(routes.getActs, async ({ db }: Parts, { organization, query }) => ({
  body: await pageOfActs(db, organization, query),
}));

/** `hash`: only those about this visitor. */
export async function pageOfActs(
  db: Database,
  { organizationId, cursorKey }: Organization,
  { limit = defaultLimit, cursor, ...filters }: ListQuery & ActFilters,
  hash?: Uint8Array,
): Promise<ActsPage> {
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
