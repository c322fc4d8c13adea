/** A domain's banner: its draft, what is published, and checks of the site. */
import type { Database } from '#libs/base/db/database';
import { changedMeanwhile } from '#libs/base/http/etag';
import { listOf } from '#libs/base/http/list';
import { refuseFields } from '#libs/base/terms/field-errors';
import { Problem } from '#libs/base/terms/problem';
import { domainArchived } from '#libs/tenants/change-errors';
import { endpoint } from '#libs/tenants/endpoint';
import type { SecretKeys } from '#libs/tenants/idempotency';
import { findOwnDomain } from '#libs/tenants/requirements';
import { checkSettings } from '#libs/widget/check-settings';
import { issueTicket } from './check-ticket.ts';
import { findCheck, listChecks, toListedCheck } from './checks.ts';
import { type Draft, findDraft, saveDraft } from './drafts.ts';
import { publish, versionNotFound } from './publishing.ts';
import { bannerRoutes as routes } from './routes.ts';
import { findVersion, listVersions, toBannerVersion } from './versions.ts';

interface Parts {
  db: Database;
}

const show = ({ version, text }: Draft) => ({ version, body: text, type: 'application/json' });

export const getBanner = endpoint(routes.getBanner, async ({ db }: Parts, { organization, params }) => {
  const { number } = await findOwnDomain(db, organization, params.domainId);
  return show(await db.read((sql) => findDraft(sql, number)));
});

export const saveBanner = endpoint(
  routes.saveBanner,
  async ({ db }: Parts, { organization, params, body, ifMatch }) => {
    const { number } = await findOwnDomain(db, organization, params.domainId);
    const faults = checkSettings(body);
    if (faults.length > 0) throw refuseFields(faults);
    const version = ifMatch(await db.read((sql) => findDraft(sql, number)));
    const saved = await db.write((sql) => saveDraft(sql, number, JSON.stringify(body), version));
    if (!saved) throw changedMeanwhile();
    return show(saved);
  },
);

export const publishBanner = endpoint(
  routes.publishBanner,
  async ({ db }: Parts, { organization, actor, params, body, once }) => {
    const { domainId } = await findOwnDomain(db, organization, params.domainId);
    return once('plain', async (perform) => {
      const { version, isNew } = await publish(perform, domainId, { ...body, by: actor });
      return { status: isNew ? 201 : 200, body: toBannerVersion(version) };
    });
  },
);

export const getBannerVersions = endpoint(
  routes.getBannerVersions,
  async ({ db }: Parts, { organization, params, query }) => {
    const list = listOf('version', query, { cursorKey: organization.cursorKey, domainId: params.domainId });
    const { number: domainNumber } = await findOwnDomain(db, organization, params.domainId);
    const { page, nextCursor } = await list((range) => db.read((sql) => listVersions(sql, { domainNumber, ...range })));
    return { body: { versions: page.map(toBannerVersion), nextCursor } };
  },
);

export const getBannerVersion = endpoint(routes.getBannerVersion, async ({ db }: Parts, { organization, params }) => {
  const { number } = await findOwnDomain(db, organization, params.domainId);
  const found = await db.read((sql) => findVersion(sql, number, params.version));
  if (!found) throw versionNotFound();
  return { body: { ...toBannerVersion(found), settings: JSON.parse(found.settings) } };
});

export const createCheckTicket = endpoint(
  routes.createCheckTicket,
  async ({ config, db }: Parts & { config: SecretKeys }, { organization, actor, params: { domainId }, now }) => {
    const { archivedAt } = await findOwnDomain(db, organization, domainId);
    if (archivedAt) throw domainArchived();
    return { status: 201, body: issueTicket(config.secretsKey, { domainId, actor, now }) };
  },
);

export const getSiteChecks = endpoint(
  routes.getSiteChecks,
  async ({ db }: Parts, { organization, params: { domainId }, query }) => {
    const list = listOf('check', query, { cursorKey: organization.cursorKey, domainId });
    const { number: domainNumber } = await findOwnDomain(db, organization, domainId);
    const { page, nextCursor } = await list((range) => db.read((sql) => listChecks(sql, { domainNumber, ...range })));
    return { body: { checks: page.map(toListedCheck), nextCursor } };
  },
);

export const getSiteCheck = endpoint(routes.getSiteCheck, async ({ db }: Parts, { organization, params }) => {
  const { number } = await findOwnDomain(db, organization, params.domainId);
  const found = await db.read((sql) => findCheck(sql, number, params.checkId));
  if (!found) throw new Problem('check_not_found', 'this domain has no such check, or a newer one has replaced it');
  return { body: { ...toListedCheck(found), result: JSON.parse(found.result) } };
});
