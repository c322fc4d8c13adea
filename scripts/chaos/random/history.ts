/** What an installation of some years has: many domains, imports over years, and visitors who were erased of late. */

import { persist } from '#libs/record/persist/persist';
import { createVisitorHash } from '#libs/tenants/visitors';
import { addDomains, addKeys } from '../../stack/sites.ts';
import { makeBody, toErase } from '../load.ts';
import { need, type Scene } from '../scene.ts';

const domains = 2_000;
const erasures = 20_000;
const records = 20_000;
/** records of one statement */
const batch = 1_000;
/** Milliseconds: a little less than records are kept. */
const span = 900 * 86_400_000;
/** of banners and policies, so that statistics by dimension have many rows */
const versions = 300;

/** One of the visitors of the first organization who were erased. */
export const erasedBefore = (index: number): string => `${toErase}before-${index % erasures}`;

/** Domains and erasures of the first organization. `erased` gets those who were, as of now. */
export async function makeHistory(scene: Scene, erased: Map<string, number>): Promise<void> {
  const { database, site, load, privacyKey } = scene;
  const db = database();
  const { organizationId } = site;
  const made = await addKeys(db, organizationId, await addDomains(db, [organizationId], domains));

  load.others.push(...made);

  const visitors = Array.from({ length: erasures }, (_, index) => erasedBefore(index));
  for (const visitor of visitors) erased.set(visitor, performance.now());
  const hashOf = createVisitorHash(privacyKey);
  const hashes = visitors.map((visitor) => hashOf(organizationId, visitor).toString('hex'));
  await db.run(
    (sql) => sql`
      insert into tombstones (hash, organization_number, domain_number, epoch, erased_at, until, searched_at)
      select decode(hash, 'hex'), number, 0, open, erased_at, erased_at + interval '32 days', erased_at
      from epochs
        cross join unnest(${hashes}::text[]) with ordinality as erased (hash, ago)
        cross join lateral (select clock_timestamp() - ago * interval '2 minutes' as erased_at) as time
        join organizations on id = ${organizationId}`,
  );
}

/** Straight into Postgres, as the API does while Redis is away: the webhooks are told of them. */
export async function importYears({ database, load }: Scene): Promise<void> {
  const all = Array.from({ length: records }, (_, index) => ({
    site: need(load.others[index % load.others.length]),
    body: {
      ...makeBody(Math.floor(Date.now() - span * (1 - index / records))),
      bannerVersion: `2.${index % versions}`,
      policyVersion: `of ${(index * 7) % versions}`,
    },
    ...{ status: 202, how: 'imported', milliseconds: 0, userAgent: null },
  }));
  load.attempts.push(...all);
  const importedAt = new Date().toISOString();
  for (let from = 0; from < records; from += batch) {
    const rows = all
      .slice(from, from + batch)
      .map(({ body, site: { domainId } }) => ({ ...body, domainId, receivedAt: importedAt, importedAt }));
    await persist(database(), rows, { owe: true });
  }
}
