/** /v1/organization/domains: the domains of the access token's organization, to be managed. */
import { z } from 'zod';
import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { changedMeanwhile, requiredVersion, setVersion } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import { readFields } from '#libs/base/http/json-body';
import { listOf } from '#libs/base/http/list';
import { isAllowed } from '#libs/base/terms/origin';
import { domainPath, listQuery, noQuery } from '#libs/base/terms/parameters';
import { createAdministration } from './administration.ts';
import type { Unchanged } from './audited-change.ts';
import { accessIn, organizationIn } from './bearer.ts';
import {
  type ManagedDomain as Answer,
  type DomainsPage,
  domainBody,
  domainChange,
  type ShownDomain,
} from './contract.ts';
import { type ManagedDomain, listDomains as readDomains } from './domains.ts';
import { forChanges } from './in-turns.ts';
import { findOwnDomain } from './own-domain.ts';
import { toQuotaProblem } from './quota.ts';
import { listRefusedOrigins, type RefusedOrigin } from './refused-origins.ts';
import { domainNotFound } from './rules.ts';
import type { SharedPlaces } from './shared-places.ts';

interface Parts {
  db: Database;
  places: Pick<SharedPlaces, 'changes'>;
}

/** Newest first, with those that are archived. */
export const listDomains = ({ db }: Parts): Middleware =>
  guard({ params: z.object({}), query: listQuery }, async (ctx, { query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const list = listOf('domain', query, { cursorKey, domainId: '' });
    const { page, nextCursor } = await list((range) => db.run((sql) => readDomains(sql, { organizationId, ...range })));
    const answer: DomainsPage = { domains: page.map(toAnswer), nextCursor };
    ctx.body = answer;
  });

export const createDomain = ({ config, ...parts }: Parts & { config: { quotas: { domains: number } } }): Middleware =>
  guard({ params: z.object({}), query: noQuery }, async (ctx) => {
    const { name, origins = [] } = await readFields(ctx, domainBody);
    const { organizationId } = organizationIn(ctx);
    const { domains: quota } = config.quotas;
    const made = await adminOf(parts, ctx)
      .createDomain(organizationId, { name, origins }, quota)
      .catch((error: unknown) => {
        throw toQuotaProblem(error);
      });
    show(ctx, made);
    ctx.status = 201;
  });

export const showDomain = (parts: Parts): Middleware =>
  guard({ params: domainPath, query: noQuery }, async (ctx, { params }) => {
    const domain = await findOwnDomain(ctx, parts.db, params.domainId);
    const refused = await parts.db.run((sql) => listRefusedOrigins(sql, domain.number));
    setVersion(ctx, domain);
    const answer: ShownDomain = { ...toAnswer(domain), refusedOrigins: stillRefused(domain, refused) };
    ctx.body = answer;
  });

export const changeDomain = (parts: Parts): Middleware =>
  guard({ params: domainPath, query: noQuery }, async (ctx, { params }) => {
    const change = await readFields(ctx, domainChange);
    const { organizationId, domainId, ...found } = await findOwnDomain(ctx, parts.db, params.domainId);
    const version = requiredVersion(ctx, found);
    show(ctx, requireChanged(await adminOf(parts, ctx).changeDomain(organizationId, domainId, change, version)));
  });

/** Its log and its figures stay. */
export const archiveDomain = (parts: Parts): Middleware =>
  guard({ params: domainPath, query: noQuery }, async (ctx, { params }) => {
    const { organizationId, domainId, ...found } = await findOwnDomain(ctx, parts.db, params.domainId);
    const version = requiredVersion(ctx, found);
    show(ctx, requireChanged(await adminOf(parts, ctx).archiveDomain(organizationId, domainId, version)));
  });

const adminOf = ({ db, places }: Parts, ctx: Context) =>
  createAdministration(forChanges(db, places, ctx), accessIn(ctx).subject);

function requireChanged(changed: ManagedDomain | Unchanged): ManagedDomain {
  if (changed === 'changed meanwhile') throw changedMeanwhile();
  if (changed === 'not found') throw domainNotFound();
  return changed;
}

function show(ctx: Context, domain: ManagedDomain): void {
  setVersion(ctx, domain);
  ctx.body = toAnswer(domain);
}

const toAnswer = ({ domainId, name, origins, createdAt, archivedAt }: ManagedDomain): Answer => ({
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
