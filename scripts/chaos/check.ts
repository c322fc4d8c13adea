/** The promises I1–I7, checked by SQL, by Redis and by the log of the attempts. */

import { Queue } from 'bullmq';
import jsonwebtoken from 'jsonwebtoken';
import { cover, periodsOf } from '#libs/contract/calendar';
import { findDrift } from '#libs/counters/drift';
import { isReady } from '#libs/counters/fill';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { connectRedis } from '#libs/runtime/redis';
import { listCountersSince } from '#libs/store/counters';
import { createDatabase } from '#libs/store/sql';
import { waitUntil } from '../stack/wait.ts';
import type { Attempt } from './load.ts';
import type { ChaosStack, Site } from './stack.ts';

export interface Verdict {
  attempts: number;
  acknowledged: number;
  refused: number;
  unknown: number;
  found: number;
  /** acknowledged and not there (I1) */
  lost: number;
  /** there more than once (I1, I2) */
  doubled: number;
  /** there, but not as any attempt sent it (I1, I2) */
  strange: number;
  /** counters that differ: Postgres' from its records, Redis' from Postgres' (I3, I4) */
  differences: number;
  /** jobs that failed or still wait (I5, I6) */
  stuck: number;
  rejected: number;
  /** the slowest answer, in milliseconds (I7) */
  slowest: number;
}

const deadline = 5_000;

/** Waits until nothing is on its way any more: no jobs, no owed raises, every organization ready in Redis. */
export async function untilQuiet(stack: ChaosStack, within = 90_000): Promise<void> {
  let noise = '';
  const isQuiet = async () => {
    noise = await findNoise(stack).catch((error: Error) => error.message);
    return noise === '';
  };
  const quiet = await waitUntil(isQuiet, { deadlineMs: within, intervalMs: 100 });
  if (!quiet) throw new Error(`I5: not quiet within ${within} ms: ${noise}`);
}

/** What is still on its way, in words; empty when nothing is. */
async function findNoise(stack: ChaosStack): Promise<string> {
  const [owed] = await stack.sql((sql) => sql<{ n: number }[]>`select count(*)::int as n from owed_raises`);
  if (owed?.n !== 0) return `${owed?.n} raises are owed`;
  return withRedis(stack, async (redis) => {
    const { waiting = 0, active = 0, delayed = 0 } = await countJobs(redis, 'waiting', 'active', 'delayed');
    if (waiting + active + delayed > 0) return `${waiting} jobs wait, ${active} are active, ${delayed} delayed`;
    const organizations = [...new Set(stack.sites.map((site) => site.organizationId))];
    const ready = await Promise.all(organizations.map((id) => isReady(redis, id)));
    return ready.every(Boolean) ? '' : 'counters are not ready in Redis';
  });
}

async function countJobs(
  redis: ReturnType<typeof connectRedis>,
  ...states: ('waiting' | 'active' | 'delayed' | 'failed')[]
): Promise<Record<string, number>> {
  const queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix, skipMetasUpdate: true });
  queue.on('error', () => {});
  try {
    return await queue.getJobCounts(...states);
  } finally {
    await queue.close();
  }
}

async function withRedis<T>(
  stack: ChaosStack,
  work: (redis: ReturnType<typeof connectRedis>) => Promise<T>,
): Promise<T> {
  const redis = connectRedis({ url: stack.redis().url, clusterNodes: [] }, 'producer', { warn: () => {} });
  try {
    if (!(await waitUntil(() => redis.runIdOf('') !== undefined, { deadlineMs: 2_000, intervalMs: 5 }))) {
      throw new Error('Redis does not answer');
    }
    return await work(redis);
  } finally {
    await redis.close();
  }
}

export async function check(stack: ChaosStack, attempts: Attempt[]): Promise<Verdict> {
  const stored = await stack.sql(
    (sql) => sql<{ domainId: string; id: string; decision: string; visitorId: string; preferences: object }[]>`
      select domain_id as "domainId", id, decision, visitor_id as "visitorId", preferences from records`,
  );
  const byId = new Map<string, typeof stored>();
  for (const row of stored) byId.set(row.id, Object.assign([...(byId.get(row.id) ?? []), row]) as typeof stored);
  const sent = new Map<string, Attempt[]>();
  for (const attempt of attempts) sent.set(attempt.body.id, [...(sent.get(attempt.body.id) ?? []), attempt]);

  const acknowledged = attempts.filter(({ outcome }) => outcome === 'acknowledged');
  const isThere = ({ body }: Attempt) => byId.has(body.id);
  const wasSent = (row: (typeof stored)[number]) =>
    (sent.get(row.id) ?? []).some(
      ({ site, body, outcome }) =>
        outcome !== 'refused' &&
        site.domainId === row.domainId &&
        body.decision === row.decision &&
        body.visitorId === row.visitorId &&
        JSON.stringify(Object.entries(body.preferences).sort()) ===
          JSON.stringify(Object.entries(row.preferences).sort()),
    );
  const [rejected] = await stack.sql((sql) => sql<{ n: number }[]>`select count(*)::int as n from rejected_records`);
  return {
    attempts: attempts.length,
    acknowledged: acknowledged.length,
    refused: attempts.filter(({ outcome }) => outcome === 'refused').length,
    unknown: attempts.filter(({ outcome }) => outcome === 'unknown').length,
    found: stored.length,
    lost: acknowledged.filter((attempt) => !isThere(attempt)).length,
    doubled: [...byId.values()].filter((rows) => rows.length > 1).length,
    strange: stored.filter((row) => !wasSent(row)).length,
    differences: (await countSqlDifferences(stack)) + (await countRedisDifferences(stack)),
    stuck: await countStuck(stack),
    rejected: rejected?.n ?? 0,
    slowest: Math.round(Math.max(0, ...attempts.map(({ milliseconds }) => milliseconds))),
  };
}

/** Postgres' counters at all four levels beside a count of its records. */
async function countSqlDifferences(stack: ChaosStack): Promise<number> {
  const [row] = await stack.sql(
    (sql) => sql<{ n: number }[]>`
      with truth as (
        select organization_id, level.domain_id, level.period,
          count(*) filter (where decision = 'accept_all') as accept_all,
          count(*) filter (where decision = 'reject_all') as reject_all,
          count(*) filter (where decision = 'custom') as custom,
          count(*) filter (where decision = 'withdraw') as withdraw
        from records r
        cross join lateral (
          select to_char(to_timestamp(milliseconds_of(id) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD') as day
        ) as d
        cross join lateral (
          values (r.domain_id, day), (r.domain_id, left(day, 7)), ('', day), ('', left(day, 7))
        ) as level (domain_id, period)
        group by 1, 2, 3
      )
      select count(*)::int as n
      from truth t full join counters c using (organization_id, domain_id, period)
      where (t.accept_all, t.reject_all, t.custom, t.withdraw)
        is distinct from (c.accept_all, c.reject_all, c.custom, c.withdraw)`,
  );
  return row?.n ?? 0;
}

async function countRedisDifferences(stack: ChaosStack): Promise<number> {
  const settings = { max: 1, statementTimeout: 10_000, deadline: 12_000, prepare: true, name: 'chaos' };
  const db = createDatabase({ url: stack.postgres().url, ...settings });
  try {
    return await withRedis(stack, async (redis) => {
      let count = 0;
      for (const organizationId of new Set(stack.sites.map((site) => site.organizationId))) {
        const { differences } = await findDrift(redis, organizationId, {
          since: '0000-00-00',
          patience: 2_000,
          listCounters: () => db.run((sql) => listCountersSince(sql, organizationId, '0000-00-00')),
        });
        count += differences.length;
      }
      return count;
    });
  } finally {
    await db.close();
  }
}

const countStuck = (stack: ChaosStack): Promise<number> =>
  withRedis(stack, async (redis) => {
    const counts = await countJobs(redis, 'waiting', 'active', 'delayed', 'failed');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  });

/** What the verdict has against the promises; empty when all hold. */
export function breaches(verdict: Verdict, allowed: { rejected?: number; lost?: boolean } = {}): string[] {
  const found: string[] = [];
  if (verdict.lost > 0 && !allowed.lost) found.push(`I1: ${verdict.lost} acknowledged records are lost`);
  if (verdict.doubled > 0) found.push(`I1: ${verdict.doubled} records are doubled`);
  if (verdict.strange > 0) found.push(`I2: ${verdict.strange} records are there as nobody sent them`);
  if (verdict.differences > 0) found.push(`I3: ${verdict.differences} counters differ`);
  if (verdict.stuck > 0) found.push(`I5: ${verdict.stuck} jobs are stuck`);
  if (verdict.rejected !== (allowed.rejected ?? 0)) found.push(`I6: ${verdict.rejected} records were rejected`);
  if (verdict.slowest > deadline) found.push(`I7: an answer took ${verdict.slowest} ms`);
  return found;
}

/** Asks the API as somebody of the site's organization; `path` is what follows `/v1/consent/`. */
export function read(stack: ChaosStack, baseUrl: string, site: Site, path: string): Promise<Response> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const token = jsonwebtoken.sign({ sub: 'chaos', org: site.organizationId, exp }, stack.jwtSecret);
  return fetch(`${baseUrl}/v1/consent/${path}`, { headers: { authorization: `Bearer ${token}` } });
}

/** The statistics that the API gives for a site over the days of the drill, and where they came from. */
export async function readStats(stack: ChaosStack, baseUrl: string, site: Site) {
  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
  const response = await read(stack, baseUrl, site, `${site.domainId}/stats?from=${day(-2)}&to=${day(1)}`);
  const { total } = (await response.json()) as { total: number };
  const [row] = await stack.sql(
    (sql) => sql<{ total: number }[]>`
      select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::int as total from counters
      where domain_id = ${site.domainId} and period = any(${periodsOf(cover(day(-2), day(1)))})`,
  );
  return { total, truth: row?.total ?? 0, source: response.headers.get('x-stats-source') };
}
