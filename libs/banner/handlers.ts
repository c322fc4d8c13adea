/** A domain's banner: its draft, and what is published. */
import type { Database } from '#libs/base/db/database';
import { changedMeanwhile } from '#libs/base/http/etag';
import { listOf } from '#libs/base/http/list';
import { refuseFields } from '#libs/base/terms/field-errors';
import { endpoint } from '#libs/tenants/endpoint';
import { findOwnDomain } from '#libs/tenants/requirements';
import { checkSettings } from '#libs/widget/check-settings';
import { type Draft, findDraft, saveDraft } from './drafts.ts';
import { publish, versionNotFound } from './publishing.ts';
import { bannerRoutes as routes } from './routes.ts';
import { findVersion, listVersions, toAnswer } from './versions.ts';

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
      return { status: isNew ? 201 : 200, body: toAnswer(version) };
    });
  },
);

export const getBannerVersions = endpoint(
  routes.getBannerVersions,
  async ({ db }: Parts, { organization, params, query }) => {
    const list = listOf('version', query, { cursorKey: organization.cursorKey, domainId: params.domainId });
    const { number: domainNumber } = await findOwnDomain(db, organization, params.domainId);
    const { page, nextCursor } = await list((range) => db.read((sql) => listVersions(sql, { domainNumber, ...range })));
    return { body: { versions: page.map(toAnswer), nextCursor } };
  },
);

export const getBannerVersion = endpoint(routes.getBannerVersion, async ({ db }: Parts, { organization, params }) => {
  const { number } = await findOwnDomain(db, organization, params.domainId);
  const found = await db.read((sql) => findVersion(sql, number, params.version));
  if (!found) throw versionNotFound();
  return { body: { ...toAnswer(found), settings: JSON.parse(found.settings) } };
});
