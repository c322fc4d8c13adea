/** Checks the promises I1–I9 and I11 with SQL, Redis, the list of attempts, and the operator's own checks. */
import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '#libs/base/group-by';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { describe } from '../stack/advice.ts';
import { bodyOf, callOnce } from './calls.ts';
import { checkCurrent } from './current.ts';
import { type Attempt, type Body, isAcknowledged, isRefused, toErase } from './load.ts';
import { countJobs } from './quiet.ts';
import type { Scene } from './scene.ts';
import { checkProofs } from './sealed-log.ts';
import type { ChaosStack } from './stack.ts';

export type Verdict = Awaited<ReturnType<typeof checkPromises>>;

/** milliseconds (I7) */
const deadline = 5_000;

/** A stored record, as far as the load sends it. */
type Stored = Omit<Body, 'visitorId' | 'pageUrl' | 'metadata'> & {
  [field in 'visitorId' | 'pageUrl' | 'metadata' | 'userAgent' | 'domainId']: unknown;
};

function isAsSent(row: Stored, { site, body, userAgent }: Attempt): boolean {
  const { visitorId, pageUrl, metadata, model: _, ...others } = body;
  const personal = { visitorId, pageUrl, metadata, userAgent };
  const none = { visitorId: null, pageUrl: null, metadata: null, userAgent: null };
  const isStoredAs = (fields: object) => isDeepStrictEqual(row, { domainId: site.domainId, ...others, ...fields });
  return isStoredAs(personal) || (visitorId.startsWith(toErase) && isStoredAs(none));
}

export async function checkPromises(
  scene: Scene,
  { mayLose = 0, rejected: toReject = 0 }: { mayLose?: number; rejected?: number },
) {
  const { load, count } = scene;
  const { attempts } = load;
  const stored = await scene.sql(
    (sql) => sql<Stored[]>`
      select d.id as "domainId", r.id, decision, preferences, language, banner_version as "bannerVersion",
        r.policy_version as "policyVersion", visitor_id as "visitorId", page_url as "pageUrl", metadata,
        user_agents.text as "userAgent"
      from records r join domains d on d.number = domain_number
      left join user_agents on user_agents.number = user_agent_number`,
  );
  const ids = new Set(stored.map(({ id }) => id));
  const sent = groupBy(attempts, ({ body }) => body.id);
  const wasSent = (row: Stored) =>
    (sent.get(row.id) ?? []).some((attempt) => !isRefused(attempt) && isAsSent(row, attempt));
  const strange = stored.filter((row) => !wasSent(row));
  const acknowledged = attempts.filter(isAcknowledged);
  const missing = acknowledged.filter(({ body }) => !ids.has(body.id));
  const lost = new Set(missing.map(({ body }) => body.id)).size;
  const jobs = await countJobs(scene);
  const rejected = await count((sql) => sql`select count(*)::int as n from rejected_records`);
  const slow = attempts.reduce<Attempt | undefined>(
    (most, each) => (each.milliseconds > (most?.milliseconds ?? 0) ? each : most),
    undefined,
  );
  const slowest = Math.round(slow?.milliseconds ?? 0);
  const counts: [what: string, count: number, most?: number][] = [
    ['I1: acknowledged records are lost', lost, mayLose],
    ['I1: lost records were acknowledged as persisted', missing.filter(({ how }) => how === 'persisted').length],
    ['I1: records are stored twice', stored.length - ids.size],
    [`I2: records differ from what was sent, such as ${JSON.stringify(strange[0])}`, strange.length],
    [`I2: decisions were refused, such as with ${load.refused[0]?.how}`, load.refused.length],
    ['I3: counters differ from the records', await countDifferences(scene)],
    ['I5: jobs are stuck', jobs.wait + jobs.active + jobs.delayed + jobs.failed],
    ['I6: records are rejected, or not listed as rejected', Math.abs(rejected - toReject)],
    [
      `I7: milliseconds of the slowest response, ${slow?.status} at ${new Date(slow?.at ?? 0).toISOString()}`,
      slowest,
      deadline,
    ],
    ['I9: sums of facets are not those of the counters', await countFacetDifferences(scene)],
    await checkCurrent(scene),
  ];
  const breaches = [
    ...counts.filter(([, n, most = 0]) => n > most).map(([what, n]) => `${what}: ${n}`),
    ...(await complaintsOf(scene, 'counters')).map((what) => `I4: ${what}`),
    ...[
      ...(await complaintsOf(scene, 'log')),
      ...(await scene.checkpoints.check()),
      ...(await checkProofs(scene)).slice(0, 5),
    ].map((what) => `I8: ${what}`),
  ];
  return {
    attempts: attempts.length,
    acknowledged: acknowledged.length,
    found: stored.length,
    lost,
    slowest,
    breaches,
  };
}

/** The operator's own check, which fails if something differs. */
const complaintsOf = (stack: ChaosStack, what: 'counters' | 'log'): Promise<string[]> =>
  stack.assent(what, 'check').then(
    () => [],
    (error) => [`assent ${what} check: ${describe(error)}`],
  );

/** Compares Postgres' counters at all four levels with a count of its records. */
const countDifferences = ({ count }: ChaosStack): Promise<number> =>
  count(
    (sql) => sql`
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

/** The number of domains or organizations and days or months whose facets do not add up to the counters. */
const countFacetDifferences = ({ count }: ChaosStack): Promise<number> =>
  count(
    (sql) => sql`
      with facet_sums as (
        select o.id as organization_id, coalesce(d.id, '') as domain_id, period, sum(accept_all) as accept_all,
          sum(reject_all) as reject_all, sum(custom) as custom, sum(withdraw) as withdraw
        from facets
        join organizations o on o.number = organization_number
        left join domains d on d.number = domain_number
        where dimension in ('source', 'crawlers')
        group by 1, 2, 3
      )
      select count(*)::int as n
      from counters c full join facet_sums f using (organization_id, domain_id, period)
      where (c.accept_all, c.reject_all, c.custom, c.withdraw)
        is distinct from (f.accept_all, f.reject_all, f.custom, f.withdraw)`,
  );

/** Whether the API's statistics equal those of Postgres for every site, and come from `source` if given. */
export async function statsAreRight(scene: Scene, source?: string): Promise<boolean> {
  const [from, to] = [addDays(dayOf(Date.now()), -2), addDays(dayOf(Date.now()), 1)];
  const checks = scene.sites.map(async (site) => {
    const path = `/v1/consent/${site.domainId}/stats?from=${from}&to=${to}`;
    const response = await callOnce(scene, { site, path });
    const { total }: { total: number } = JSON.parse(String(await bodyOf(response)));
    const truth = await scene.count(
      (sql) => sql`
        select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::int as n from counters
        where domain_id = ${site.domainId} and length(period) = 10 and period between ${from} and ${to}`,
    );
    return total === truth && (!source || response.headers.get('x-stats-source') === source);
  });
  return (await Promise.all(checks)).every(Boolean);
}
