/** Compares what the API says that visitors allow now with the fold of their stored records, and checks `asOf` (I11). */
import { isDeepStrictEqual } from 'node:util';
import { chunksOf, groupBy } from '#libs/base/group-by';
import { type CurrentOfMany, mostVisitors } from '#libs/current/contract';
import { createVisitorHash } from '#libs/tenants/visitors';
import type { Site } from '../stack/sites.ts';
import { bodyOf, callOnce, callUntilDone } from './calls.ts';
import { decidedAt, foldOf, type Stored } from './fold.ts';
import { isAcknowledged, toErase } from './load.ts';
import type { Activity, Scene } from './scene.ts';

const lookUp = (site: Site, visitorIds: string[]) => ({
  site,
  scope: 'current',
  method: 'POST',
  path: `/v1/consent/${site.domainId}/current`,
  body: JSON.stringify({ visitorIds }),
});
const parse = (body: Buffer): CurrentOfMany => JSON.parse(String(body));

/** What half of the sites require of a permission; the others require nothing. */
const strict = { validMonths: 1, policyVersion: '2026-03' };
const lenient = { validMonths: null, policyVersion: null };

/** The number of visitors whose current state differs from the fold of their records, and one of them. */
export async function checkCurrent(scene: Scene): Promise<[what: string, count: number]> {
  let [wrong, example] = [0, ''];
  const hashOf = createVisitorHash(scene.privacyKey);
  const tombstones = await scene.sql(
    (sql) => sql<{ hash: string }[]>`select encode(hash, 'hex') as hash from tombstones`,
  );
  const erased = new Set(tombstones.map(({ hash }) => hash));
  for (const [at, site] of scene.sites.entries()) {
    const terms = at % 2 === 0 ? strict : lenient;
    const records = await scene.sql(async (sql) => {
      await sql`
        update domains set valid_months = ${terms.validMonths}, policy_version = ${terms.policyVersion}
        where id = ${site.domainId}`;
      return sql<(Stored & { visitorId: string })[]>`
        select r.id, received_at as "receivedAt", decision, preferences, r.policy_version as "policyVersion", model,
          visitor_id as "visitorId"
        from records r join domains d on d.number = domain_number
        where d.id = ${site.domainId} and visitor_id is not null`;
    });
    const visitors = groupBy(records, ({ visitorId }) => visitorId);
    for (const visitorIds of chunksOf([...visitors.keys(), 'nobody'], mostVisitors)) {
      const { current } = parse(await callUntilDone(scene, lookUp(site, visitorIds)));
      for (const [place, { visitorId, preferences, ...fields }] of current.entries()) {
        const { recordId, others, valid, reason, validUntil } = fields;
        const allowed = Object.keys(preferences).filter((name) => preferences[name]);
        const answered = { recordId, allowed: allowed.sort(), others, valid, reason, validUntil };
        const isErased = erased.has(hashOf(site.organizationId, visitorId).toString('hex'));
        const expected = foldOf(isErased ? [] : (visitors.get(visitorId) ?? []), terms, Date.now());
        if (visitorId === visitorIds[place] && isDeepStrictEqual(answered, expected)) continue;
        wrong += 1;
        example = `${visitorId} of ${site.domainId}: ${JSON.stringify({ answered, expected })}`;
      }
    }
  }
  return [`I11: the current state of visitors differs from their records, such as ${example}`, wrong];
}

interface Seen {
  visitor: string;
  recordId: string | null;
  asOf: number;
}

/** Looks up visitors who have just decided. At the end, no response may lack what was acknowledged before its `asOf`. */
export function watchCurrent(scene: Scene): Activity {
  const { load, clocks } = scene;
  const seen: Seen[] = [];
  let count = 0;
  const nameOf = ({ domainId }: Site, visitorId: string) => `${visitorId} of ${domainId}`;
  return {
    pause: 100,
    work: async () => {
      const recent = load.attempts.slice(-200).filter(isAcknowledged);
      const site = recent[Math.floor(Math.random() * recent.length)]?.site;
      if (!site) return;
      const ofSite = recent.filter((attempt) => attempt.site === site);
      // of those who are erased, nothing is left, although it was acknowledged
      const lasting = ofSite.filter(({ body }) => !body.visitorId.startsWith(toErase));
      if (lasting.length === 0) return;
      const visitorIds = [...new Set(lasting.map(({ body }) => body.visitorId))];
      const { steps, wrong } = clocks;
      const response = await callOnce(scene, lookUp(site, visitorIds)).catch(() => undefined);
      const body = response?.ok && (await bodyOf(response).catch(() => undefined));
      // the API of the previous release does not have this path
      if (!body) return;
      const { asOf, current } = parse(body);
      count += current.length;
      // while clocks differ, what came first is unknown
      if (asOf === null || wrong + clocks.wrong > 0 || clocks.steps !== steps) return;
      for (const { visitorId, recordId } of current)
        seen.push({ visitor: nameOf(site, visitorId), recordId, asOf: Date.parse(asOf) });
    },
    check: async () => {
      const stored = await scene.sql(
        (sql) => sql<Pick<Stored, 'id' | 'receivedAt'>[]>`select id, received_at as "receivedAt" from records`,
      );
      const known = new Map(stored.map((each) => [each.id, each]));
      const sent = groupBy(load.attempts.filter(isAcknowledged), ({ site, body }) => nameOf(site, body.visitorId));
      const isNewer = (id: string, than: string | null) => {
        const [one, other] = [known.get(id), known.get(than ?? '')];
        return one !== undefined && (!other || decidedAt(one) > decidedAt(other));
      };
      const incomplete = seen.filter(({ visitor, recordId, asOf }) =>
        (sent.get(visitor) ?? []).some(({ at, body }) => at !== undefined && at < asOf && isNewer(body.id, recordId)),
      );
      scene.expect(
        incomplete.length === 0,
        `I11: ${incomplete.length} lookups lack what was acknowledged before: ${JSON.stringify(incomplete[0])}`,
      );
      console.log(`${count} visitors were looked up, ${seen.length} with an asOf to check`);
    },
  };
}
