/** A small shop with the widget on it, for `npm start`. Served only if DEMO_DOMAIN is set. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Database } from '#libs/base/db/database';
import { clientAddress, network } from '#libs/base/http/client-address';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { createLimiter } from '#libs/base/http/limiter';
import { consentInForce } from '#libs/current/in-force';
import type { NewestReader } from '#libs/current/newest';
import { readPage } from '#libs/log/domain-page';
import { storable } from '#libs/record/contract';
import type { TenantCache } from '#libs/tenants/tenant-cache';
import type { ApiConfig } from '../../settings/api.ts';

const files = {
  'shop.css': 'text/css',
  'shop.js': 'text/javascript',
  'settings.js': 'text/javascript',
  'offer.js': 'text/javascript',
  'film.svg': 'image/svg+xml',
  'map.svg': 'image/svg+xml',
  'cup.svg': 'image/svg+xml',
  'bowl.svg': 'image/svg+xml',
  'vase.svg': 'image/svg+xml',
  'jug.svg': 'image/svg+xml',
};
const shownRecords = 5;
/** The page polls up to ten times a second, for at most 15 s after each decision. */
const perMinute = 300;

const visitorId = z.string().min(1).max(128).regex(storable, 'must be well-formed Unicode without NUL');

const read = (name: string): Buffer => readFileSync(new URL(`./public/demo/${name}`, import.meta.url));

/** Path → handler; none without a demo domain. */
export function demoPage({
  config,
  tenants,
  db,
  newest,
}: {
  config: Pick<ApiConfig, 'demo'>;
  tenants: TenantCache;
  db: Database;
  newest: NewestReader;
}): Record<string, Middleware> {
  if (!config.demo) return {};
  const { domainId, apiKey } = config.demo;
  const html = read('shop.html').toString().replace('{{domain}}', domainId).replace('{{key}}', apiKey);

  const page: Middleware = (ctx) => {
    ctx.type = 'text/html';
    ctx.set('Cache-Control', 'no-store');
    ctx.body = html;
  };
  const file = (name: string, type: string): Middleware => {
    const content = read(name);
    return (ctx) => {
      ctx.type = type;
      ctx.set('Cache-Control', 'no-cache');
      ctx.body = content;
    };
  };
  /** One visitor's records. Only the visitor's own browser knows the random visitor id. */
  const records = guard({ params: z.object({ visitorId }) }, async (ctx, given) => {
    const domain = await tenants.domain(domainId);
    const { visitorId } = given.params;
    const found = domain
      ? await db.read(
          (sql) => readPage(sql, { organizationId: domain.organizationId, domainId, visitorId, limit: shownRecords }),
          { snapshot: true },
        )
      : { records: [] };
    ctx.set('Cache-Control', 'no-store');
    ctx.body = found.records.map(({ id, decision, decidedAt, preferences, source }) => ({
      id,
      decision,
      decidedAt,
      preferences,
      source,
    }));
  });

  /** What a shop's server would ask before it sends an event. A real one needs an access token for it. */
  const current = guard({ params: z.object({ visitorId }) }, async (ctx, given) => {
    const { visitorId } = given.params;
    const { organizationId } = (await tenants.domain(domainId)) ?? {};
    const [found] = organizationId ? await newest.read(organizationId, domainId, [visitorId]) : [];
    const { preferences, valid } = consentInForce(domainId, visitorId, found, ctx.state.receivedAt);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { preferences, valid };
  });

  const limiter = createLimiter({
    name: 'demo',
    limit: perMinute,
    detail: `at most ${perMinute} requests a minute from one address`,
  });
  const limited =
    (handler: Middleware): Middleware =>
    (ctx, next) => {
      limiter.admit(ctx, network(clientAddress(ctx)));
      return handler(ctx, next);
    };

  return {
    '/demo': page,
    '/demo/records/:visitorId': limited(records),
    '/demo/current/:visitorId': limited(current),
    ...Object.fromEntries(Object.entries(files).map(([name, type]) => [`/demo/${name}`, file(name, type)])),
  };
}
