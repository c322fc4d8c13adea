/** What the API says that visitors allow now, compared with all of their stored records; and whether `asOf` is honest. */
import { isDeepStrictEqual } from 'node:util';
import { chunksOf, groupBy } from '#libs/base/group-by';
import { type CurrentOfMany, type CurrentOfOne, mostVisitors } from '#libs/current/contract';
import { createVisitorHash } from '#libs/tenants/visitors';
import type { Site } from '../stack/sites.ts';
import { bodyOf, callOnce, callUntilDone } from './calls.ts';
import { decidedAt, foldOf, type Stored } from './fold.ts';
import { type Attempt, isAcknowledged } from './load.ts';
import type { Activity, Scene } from './scene.ts';

const pathOf = ({ domainId }: Site): string => `/v1/consent/${domainId}/current`;

/** I11: how many visitors are answered otherwise than their records say, and one of them. */
export async function checkCurrent(scene: Scene): Promise<[what: string, count: number]> {
  let [wrong, example] = [0, ''];
  const hashOf = createVisitorHash(scene.privacyKey);
  const erased = new Set(
    (await scene.sql((sql) => sql<{ hash: string }[]>`select encode(hash, 'hex') as hash from tombstones`)).map(
      ({ hash }) => hash,
    ),
  );
  for (const [at, site] of scene.sites.entries()) {
    const terms =
      at % 2 === 0 ? { validMonths: 1, policyVersion: '2026-03' } : { validMonths: null, policyVersion: null };
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
      const call = { site, scope: 'current', method: 'POST', path: pathOf(site), body: JSON.stringify({ visitorIds }) };
      const { current }: CurrentOfMany = JSON.parse(String(await callUntilDone(scene, call)));
      for (const [
        place,
        { visitorId, recordId, preferences, others, valid, reason, validUntil },
      ] of current.entries()) {
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
  return [`I11: visitors are answered otherwise than their records say, such as ${example}`, wrong];
}

interface Look {
  site: Site;
  visitorId: string;
  answer: CurrentOfOne;
}

/** Asks for visitors who have just decided; at the end nothing that was acknowledged before an `asOf` may have been missing. */
export function watchCurrent(scene: Scene): Activity {
  const { load, clocks } = scene;
  const looks: Look[] = [];
  let count = 0;
  const key = ({ domainId }: Site, visitorId: string) => `${domainId} ${visitorId}`;
  return {
    pause: 200,
    work: async () => {
      const recent = load.attempts.slice(-200).filter(isAcknowledged);
      const attempt = recent[Math.floor(Math.random() * recent.length)];
      if (!attempt) return;
      const { site, body } = attempt;
      const { visitorId } = body;
      const { steps, wrong } = clocks;
      const path = `${pathOf(site)}/${visitorId}`;
      const response = await callOnce(scene, { site, scope: 'current', path }).catch(() => undefined);
      const text = response?.ok && (await bodyOf(response).catch(() => undefined));
      // an API of the release before has no such path
      if (!text) return;
      count += 1;
      // by clocks that differ, nobody can say what came first
      if (wrong === 0 && clocks.wrong === 0 && clocks.steps === steps)
        looks.push({ site, visitorId, answer: JSON.parse(String(text)) });
    },
    check: async () => {
      const stored = await scene.sql(
        (sql) => sql<Pick<Stored, 'id' | 'receivedAt'>[]>`select id, received_at as "receivedAt" from records`,
      );
      const known = new Map(stored.map((each) => [each.id, each]));
      const sent = groupBy(load.attempts.filter(isAcknowledged), ({ site, body }) => key(site, body.visitorId));
      const isNewer = (id: string, than: string | null) => {
        const [one, other] = [known.get(id), known.get(than ?? '')];
        return one !== undefined && (!other || decidedAt(one) > decidedAt(other));
      };
      const misses = ({ site, visitorId, answer: { asOf, recordId } }: Look) =>
        (sent.get(key(site, visitorId)) ?? []).filter(
          ({ at = Number.POSITIVE_INFINITY, body }: Attempt) =>
            asOf !== null && at < Date.parse(asOf) && isNewer(body.id, recordId),
        );
      const wrong = looks.filter((look) => misses(look).length > 0);
      scene.expect(
        wrong.length === 0,
        `I11: ${wrong.length} answers missed what was acknowledged before: ${JSON.stringify(wrong[0])}`,
      );
      const dated = looks.filter(({ answer }) => answer.asOf !== null).length;
      console.log(`${count} looks at what holds, ${dated} with a time`);
    },
  };
}
