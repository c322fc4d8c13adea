/** Checks the promises I1–I9 with SQL, Redis and the list of attempts. */
import { isDeepStrictEqual } from 'node:util';
import { addDays, cover, dayOf, periodsOf } from '#libs/contract/calendar';
import { findDrift } from '#libs/counters/drift';
import { isReady } from '#libs/counters/fill';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { knownShards } from '#libs/queue/shards';
import { countersSince } from '#libs/store/counters';
import { read, type Site, signToken } from '../stack/client.ts';
import { waitUntil } from '../stack/wait.ts';
import { countFacetDifferences, countUnderived } from './check-facets.ts';
import { type Checkpoints, checkLogs, countUnsealed } from './check-log.ts';
import { checkProofs } from './check-proofs.ts';
import type { Attempt, Body } from './load.ts';
import type { ChaosStack } from './stack.ts';

export type Verdict = Awaited<ReturnType<typeof check>>;

/** milliseconds (I7) */
const deadline = 5_000;

/** Waits until no job is left, no raise is owed and Redis has the counters of every organization. */
export async function untilQuiet(stack: ChaosStack, within = 90_000): Promise<void> {
  let noise = '';
  const isQuiet = async () => {
    noise = await findNoise(stack).catch((error: Error) => error.message);
    return noise === '';
  };
  if (await waitUntil(isQuiet, { deadlineMs: within, intervalMs: 100 })) return;
  throw new Error(`I5: not quiet within ${within} ms: ${noise}`);
}

/** What is still under way, in words; empty when nothing is. */
async function findNoise(stack: ChaosStack): Promise<string> {
  const owed = await count(stack, 'owed_raises');
  if (owed !== 0) return `${owed} raises are owed`;
  const { wait, active, delayed } = await countJobs(stack);
  if (wait + active + delayed > 0) return `${wait} jobs wait, ${active} are active, ${delayed} delayed`;
  const unsealed = await countUnsealed(stack);
  if (unsealed !== 0) return `${unsealed} records are not sealed`;
  const underived = await countUnderived(stack);
  if (underived !== 0) return `${underived} records are in no facet`;
  const ready = await Promise.all(organizations(stack).map((id) => isReady(stack.counters, id)));
  return ready.every(Boolean) ? '' : 'counters are not ready in Redis';
}

const organizations = (stack: ChaosStack) => [...new Set(stack.sites.map((site) => site.organizationId))];

const count = (stack: ChaosStack, table: 'owed_raises' | 'rejected_records') =>
  stack.sql(async (sql) => (await sql<{ n: number }[]>`select count(*)::int as n from ${sql(table)}`)[0]?.n ?? 0);

export const queueKey = (name: string, shard = 0): string => `${queuePrefix}:${recordQueue(shard)}:${name}`;

/** Of all shards that were ever announced. */
export async function countJobs({ counters: { client } }: ChaosStack) {
  const shards = await knownShards(client, 1);
  const sum = async (count: (key: string) => Promise<number>, state: string) => {
    const counts = await Promise.all(shards.map((shard) => count(queueKey(state, shard))));
    return counts.reduce((total, each) => total + each, 0);
  };
  return {
    wait: await sum((key) => client.llen(key), 'wait'),
    active: await sum((key) => client.llen(key), 'active'),
    delayed: await sum((key) => client.zcard(key), 'delayed'),
    failed: await sum((key) => client.zcard(key), 'failed'),
  };
}

/** A stored record, as far as clients of drills send it. */
interface Stored extends Omit<Body, 'visitorId' | 'pageUrl' | 'metadata'> {
  domainId: string;
  visitorId: string | null;
  pageUrl: string | null;
  metadata: object | null;
  userAgent: string | null;
}

function isAsSent(row: Stored, { site, body, userAgent = row.userAgent, isErased = false }: Attempt): boolean {
  const { visitorId, pageUrl, metadata, ...others } = body;
  const personal = { visitorId, pageUrl, metadata, userAgent };
  const none = { visitorId: null, pageUrl: null, metadata: null, userAgent: null };
  const isStoredAs = (fields: object) => isDeepStrictEqual(row, { domainId: site.domainId, ...others, ...fields });
  return isStoredAs(personal) || (isErased && isStoredAs(none));
}

export async function check(stack: ChaosStack, attempts: Attempt[], checkpoints: Checkpoints) {
  const stored = await stack.sql(
    (sql) => sql<Stored[]>`
      select d.id as "domainId", r.id, decision, preferences, language, banner_version as "bannerVersion",
        policy_version as "policyVersion", visitor_id as "visitorId", page_url as "pageUrl", metadata,
        user_agents.text as "userAgent"
      from records r join domains d on d.number = domain_number
      left join user_agents on user_agents.number = user_agent_number`,
  );
  const found = new Set(stored.map(({ id }) => id));
  const sent = new Map<string, Attempt[]>();
  for (const attempt of attempts) sent.set(attempt.body.id, [...(sent.get(attempt.body.id) ?? []), attempt]);
  const wasSent = (row: Stored) =>
    (sent.get(row.id) ?? []).some((attempt) => attempt.outcome !== 'refused' && isAsSent(row, attempt));
  const strange = stored.filter((row) => !wasSent(row));
  const acknowledged = attempts.filter(({ outcome }) => outcome === 'acknowledged');
  const jobs = await countJobs(stack);
  return {
    attempts: attempts.length,
    acknowledged: acknowledged.length,
    found: stored.length,
    /** records that were acknowledged, but are not stored (I1) */
    lost: new Set(acknowledged.map(({ body }) => body.id).filter((id) => !found.has(id))).size,
    /** of these, the ones that were answered as stored in Postgres: no engine's failover may lose them */
    lostPersisted: acknowledged.filter(({ body, how }) => how === 'persisted' && !found.has(body.id)).length,
    /** stored more than once (I1, I2) */
    doubled: stored.length - found.size,
    /** stored, but not as any attempt sent it (I1, I2) */
    strange: strange.length,
    /** one of them, and what was sent under its id */
    strangeOne: JSON.stringify([strange[0], sent.get(strange[0]?.id ?? '')]),
    /** counters that differ: Postgres from its records, Redis from Postgres (I3, I4) */
    differences: (await countSqlDifferences(stack)) + (await countRedisDifferences(stack)),
    /** jobs that failed or still wait (I5, I6) */
    stuck: jobs.wait + jobs.active + jobs.delayed + jobs.failed,
    rejected: await count(stack, 'rejected_records'),
    /** what is wrong with the sealed logs (I8) */
    logs: await checkLogs(stack, checkpoints),
    /** what is wrong with the proofs that the API gives (I8) */
    proofs: await checkProofs(stack),
    /** facets that do not add up to the counters (I9) */
    facetDifferences: await countFacetDifferences(stack),
    /** the slowest answer, in milliseconds (I7) */
    slowest: Math.round(attempts.reduce((most, { milliseconds }) => Math.max(most, milliseconds), 0)),
  };
}

/** Compares Postgres' counters at all four levels with a count of its records. */
async function countSqlDifferences(stack: ChaosStack): Promise<number> {
  const [row] = await stack.sql(
    (sql) => sql<{ n: number }[]>`
      with truth as (
        select organization_id, level.domain_number, level.domain_id, level.period,
          count(*) filter (where bot and level.domain_id <> '') as crawlers,
          count(*) filter (where decision = 'accept_all') as accept_all,
          count(*) filter (where decision = 'reject_all') as reject_all,
          count(*) filter (where decision = 'custom') as custom,
          count(*) filter (where decision = 'withdraw') as withdraw
        from records r join domains on domains.number = domain_number
        cross join lateral (
          select to_char(to_timestamp(milliseconds_of(r.id) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD') as day
        ) as d
        cross join lateral (
          values (domains.id, number, day), (domains.id, number, left(day, 7)), ('', 0, day), ('', 0, left(day, 7))
        ) as level (domain_id, domain_number, period)
        group by 1, 2, 3, 4
      )
      select count(*)::int as n
      from truth t full join counters c using (organization_id, domain_id, period)
      left join crawler_counters b using (domain_number, period)
      where (t.accept_all, t.reject_all, t.custom, t.withdraw, t.crawlers) is distinct from (
        c.accept_all, c.reject_all, c.custom, c.withdraw,
        coalesce(b.accept_all + b.reject_all + b.custom + b.withdraw, 0)
      )`,
  );
  return row?.n ?? 0;
}

async function countRedisDifferences(stack: ChaosStack): Promise<number> {
  const since = '0000-00-00';
  let sum = 0;
  for (const organizationId of organizations(stack)) {
    const truth = countersSince({ run: stack.sql }, organizationId, since);
    sum += (await findDrift(stack.counters, { organizationId, since, truth }, 2_000)).differences.length;
  }
  return sum;
}

export function breaches(verdict: Verdict, allowed: { rejected: number; lost: number }): string[] {
  const { lost, doubled, strange, strangeOne, differences, stuck, rejected } = verdict;
  const { logs, proofs, facetDifferences, slowest } = verdict;
  return [
    ...(lost > allowed.lost
      ? [`I1: ${lost} acknowledged records are lost, and no more than ${allowed.lost} may be`]
      : []),
    ...(verdict.lostPersisted > 0 ? [`I1: ${verdict.lostPersisted} of them were in Postgres`] : []),
    ...(doubled > 0 ? [`I1: ${doubled} records are doubled`] : []),
    ...(strange > 0 ? [`I2: ${strange} stored records are not as anybody sent them, such as ${strangeOne}`] : []),
    ...(differences > 0 ? [`I3: ${differences} counters differ`] : []),
    ...(stuck > 0 ? [`I5: ${stuck} jobs are stuck`] : []),
    ...(rejected !== allowed.rejected ? [`I6: ${rejected} records were rejected`] : []),
    ...[...logs.slice(0, 5), ...proofs.slice(0, 5)].map((what) => `I8: ${what}`),
    ...(facetDifferences > 0 ? [`I9: ${facetDifferences} sums of facets are not those of the counters`] : []),
    ...(slowest > deadline ? [`I7: an answer took ${slowest} ms`] : []),
  ];
}

export const readAs = ({ organizationId }: Site, { jwtSecret }: ChaosStack, url: string): Promise<Response> =>
  read(url, signToken(organizationId, jwtSecret));

/** Whether the API's statistics are those of Postgres for every site, and come from `source` if given. */
export async function statsAreRight(stack: ChaosStack, baseUrl: string, source?: string): Promise<boolean> {
  const today = dayOf(Date.now());
  const [from, to] = [addDays(today, -2), addDays(today, 1)];
  const checks = stack.sites.map(async (site) => {
    const url = `${baseUrl}/v1/consent/${site.domainId}/stats?from=${from}&to=${to}`;
    const response = await readAs(site, stack, url);
    const { total } = (await response.json()) as { total: number };
    const [row] = await stack.sql(
      (sql) => sql<{ total: number }[]>`
        select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::int as total from counters
        where domain_id = ${site.domainId} and period = any(${periodsOf(cover(from, to))})`,
    );
    return total === row?.total && (source === undefined || response.headers.get('x-stats-source') === source);
  });
  return (await Promise.all(checks)).every(Boolean);
}
