/** Checks the promises I1–I9 and I11 with SQL, Redis, the list of attempts, and the operator's own checks. */
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { sha256 } from '#libs/base/sha256';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { every } from '#libs/base/timers';
import { verifyEd25519 } from '#libs/proof/ed25519';
import { base64 } from '#libs/proof/tree/bytes';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import { append, emptyFrontier, rootOf } from '#libs/proof/tree/frontier';
import type { VerifierKey } from '#libs/proof/tree/verifier-key';
import { knownShards, queuePrefix, recordQueue } from '#libs/record/queue';
import { isReady } from '#libs/stats/redis/fill';
import { describe } from '../stack/advice.ts';
import type { Site } from '../stack/sites.ts';
import { waitUntil } from '../stack/wait.ts';
import { bodyOf, callOnce, callUntilDone } from './calls.ts';
import { checkCurrent } from './current.ts';
import { describeDeriving } from './deriving.ts';
import { type Attempt, type Body, isAcknowledged, isRefused, toErase } from './load.ts';
import type { Activity, Scene } from './scene.ts';
import type { ChaosStack } from './stack.ts';

export type Verdict = Awaited<ReturnType<typeof checkPromises>>;

/** milliseconds (I7) */
const deadline = 5_000;

/** Waits until no job is left, no raise is owed and Redis has the counters of every organization. */
export async function untilQuiet(stack: ChaosStack, within = 90_000): Promise<void> {
  let noise = '';
  const isQuiet = async () => {
    noise = await findNoise(stack).catch(describe);
    return noise === '';
  };
  if (await waitUntil(isQuiet, { deadlineMs: within, intervalMs: 100 })) return;
  throw new Error(`I5: not quiet within ${within} ms: ${noise}; ${await describeDeriving(stack).catch(describe)}`);
}

/** What is counted of what is still under way, none of it when all is quiet. */
const waiting: Record<string, (sql: Sql) => Promise<{ n: number }[]>> = {
  'raises are owed': (sql) => sql`select count(*)::int as n from owed_raises`,
  'records are under no checkpoint': (sql) => sql`
    select (
      (select count(*) from records)
      - (select coalesce(sum(checkpoint_size), 0) from logs)
      + (select count(*) from log_texts join logs using (domain_number, log) where position < checkpoint_size)
    )::int as n`,
  'records are in no facet': (sql) => sql`
    select count(*)::int as n from records
    where epoch > coalesce((select epoch from derivations where name = 'facets'), 0)`,
};

/** What is still under way, in words; empty when nothing is. */
async function findNoise(stack: ChaosStack): Promise<string> {
  const { wait, active, delayed } = await countJobs(stack);
  if (wait + active + delayed > 0) return `${wait} jobs wait, ${active} are active, ${delayed} delayed`;
  for (const [what, query] of Object.entries(waiting)) {
    const n = await stack.count(query);
    if (n !== 0) return `${n} ${what}`;
  }
  const ids = stack.sites.map(({ organizationId }) => organizationId);
  const ready = await Promise.all(ids.map((id) => isReady(stack.counters, id)));
  return ready.every(Boolean) ? '' : 'counters are not ready in Redis';
}

/** Of all shards that were ever announced. */
export async function countJobs({ counters: { client } }: ChaosStack) {
  const jobs = { wait: 0, active: 0, delayed: 0, failed: 0 };
  for (const shard of await knownShards(client, 1)) {
    const keyOf = (state: string) => `${queuePrefix}:${recordQueue(shard)}:${state}`;
    jobs.wait += await client.llen(keyOf('wait'));
    jobs.active += await client.llen(keyOf('active'));
    jobs.delayed += await client.zcard(keyOf('delayed'));
    jobs.failed += await client.zcard(keyOf('failed'));
  }
  return jobs;
}

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
    ['I1: lost records were answered as persisted', missing.filter(({ how }) => how === 'persisted').length],
    ['I1: records are stored twice', stored.length - ids.size],
    [`I2: records are stored as nobody sent them, such as ${JSON.stringify(strange[0])}`, strange.length],
    [`I2: decisions were refused, such as with ${load.refused[0]?.how}`, load.refused.length],
    ['I3: counters differ from the records', await countDifferences(scene)],
    ['I5: jobs are stuck', jobs.wait + jobs.active + jobs.delayed + jobs.failed],
    ['I6: records are rejected, or not listed as rejected', Math.abs(rejected - toReject)],
    [
      `I7: milliseconds took the slowest answer, ${slow?.status} at ${new Date(slow?.at ?? 0).toISOString()}`,
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

/** The operator's own check, which fails where something differs. */
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

/** At how many domains or organizations and days or months the facets add up to something else than the counters. */
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

/** Whether the API's statistics are those of Postgres for every site, and come from `source` if given. */
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

/** milliseconds */
const pace = 250;

interface Signed {
  origin: string;
  size: number;
  root: string;
}

export function watchCheckpoints({ sql }: ChaosStack) {
  /** by origin and size */
  const seen = new Map<string, Signed>();
  const lost = new Set<string>();
  const forks: string[] = [];
  const listSigned = () =>
    sql(
      (running) => running<Signed[]>`
        select origin, checkpoint_size as size, split_part(checkpoint, E'\\n', 3) as root from logs
        where checkpoint is not null`,
    );
  const look = async () => {
    for (const signed of await listSigned()) {
      const place = `${signed.origin} at ${signed.size}`;
      const { root } = seen.get(place) ?? signed;
      if (root !== signed.root) forks.push(`two trees are signed of ${place}`);
      seen.set(place, signed);
    }
  };
  // Postgres may be what the drill takes away
  const { stop } = every({ name: 'checkpoints', pace, task: look, failed: () => {} });
  return {
    stop,
    /** Beside the looks on a timer, one now. */
    look,
    /** Those beyond what is stored went with a server that was lost. Returns how many. */
    forgetLost: async (): Promise<number> => {
      const sizes = new Map((await listSigned()).map(({ origin, size }) => [origin, size]));
      for (const [place, { origin, size }] of seen) if (size > (sizes.get(origin) ?? 0)) lost.add(place);
      return lost.size;
    },
    /** What is wrong, in words. */
    check: async (): Promise<string[]> => {
      await look();
      const logs = await sql(
        (running) => running<{ origin: string; leaves: Buffer }[]>`
          select origin, string_agg(leaves, ''::bytea order by first) as leaves
          from logs join log_runs using (domain_number, log) group by origin`,
      );
      const rootsByOrigin = new Map(logs.map(({ origin, leaves }) => [origin, rootsOf(leaves)]));
      const isThere = ({ origin, size, root }: Signed) => rootsByOrigin.get(origin)?.[size] === root;
      const gone = [...seen].filter(([place, signed]) => !lost.has(place) && !isThere(signed));
      return [...forks, ...gone.map(([place]) => `the root of ${place} is not the signed one any more`)];
    },
  };
}

/** The root at each size. */
function rootsOf(leaves: Buffer): string[] {
  const frontier = emptyFrontier();
  const roots = [base64(rootOf(sha256, frontier))];
  for (let at = 0; at < leaves.length; at += 32) {
    append(sha256, frontier, leaves.subarray(at, at + 32));
    roots.push(base64(rootOf(sha256, frontier)));
  }
  return roots;
}

/** entries that checkpoints cover */
export const countSealed = ({ count }: ChaosStack): Promise<number> =>
  count((sql) => sql`select coalesce(sum(checkpoint_size), 0)::int as n from logs`);

export const untilSealed = async (scene: Scene, more = 1): Promise<void> => {
  const before = await countSealed(scene);
  await scene.until(async () => (await countSealed(scene)) >= before + more, `${more} records are sealed`);
};

export const countHalted = ({ count }: ChaosStack, why: 'behind' | 'unconfirmed'): Promise<number> =>
  count((sql) => sql`select count(*)::int as n from logs where halted = ${why} and ended_at is null`);

/** A bundle of a record, and its proof as a file. */
const forms = ['application/json', 'text/plain'] as const;
/** records of each domain that are asked for when a drill is over */
const sample = 5;
/** The record waits in a queue, no checkpoint covers it yet, or a store is away. */
const foreseen = [200, 404, 409, 503];

const proofOf = (site: Site, recordId: string, accept: string) => ({
  site,
  path: `/v1/consent/${site.domainId}/records/${recordId}/proof`,
  accept,
});

/** Of all logs that the domain has had; one that was restarted before its first checkpoint never had a key. */
async function keysOf(scene: Scene, site: Site): Promise<VerifierKey[]> {
  const logs = await scene.sql(
    (sql) => sql<{ log: number }[]>`
      select log from logs join domains on number = domain_number where id = ${site.domainId}
        and checkpoint is not null`,
  );
  const paths = logs.map(({ log }) => `/v1/consent/${site.domainId}/log/key?log=${log}`);
  const texts = await Promise.all(paths.map((path) => callUntilDone(scene, { site, path, accept: 'text/plain' })));
  return parseVerifierKeys(sha256, texts.join('\n'));
}

/** Why the file does not prove that the record is in the log; undefined where it does. */
function whyNotProven(file: Uint8Array, keys: VerifierKey[], recordId: string): string | undefined {
  const verdict = checkFile(file, keys, { sha256, verifyEd25519 });
  if (!verdict.holds) return verdict.why;
  const { entry } = verdict;
  return entry.type === 'record' && entry.id === recordId ? undefined : 'it is of something else';
}

/** Asks for proofs of some records of every site, and of those that are taken already. What is wrong, in words. */
async function checkProofs(scene: Scene, taken: Map<string, Uint8Array> = new Map()): Promise<string[]> {
  const wrong: string[] = [];
  for (const site of scene.sites) {
    const ids = await scene.sql(
      (sql) => sql<{ id: string }[]>`
        select r.id from records r join domains d on d.number = domain_number
        where d.id = ${site.domainId} and (${taken.size === 0} or r.id = any(${[...taken.keys()]}))
        order by random() limit ${taken.size || sample}`,
    );
    const keys = ids.length > 0 ? await keysOf(scene, site) : [];
    for (const [at, { id }] of ids.entries()) {
      const fresh = await callUntilDone(scene, proofOf(site, id, forms[at % forms.length] ?? forms[0]));
      const why = whyNotProven(fresh, keys, id) ?? whyNotProven(taken.get(id) ?? fresh, keys, id);
      if (why) wrong.push(`the proof of ${id} does not hold: ${why}`);
    }
  }
  return wrong;
}

/** Proofs are taken while faults go on, half of them before the visitor is erased, and hold for ever. */
export function takeProofs(scene: Scene): Activity {
  const taken = new Map<string, Uint8Array>();
  let [count, ofErased] = [0, 0];
  return {
    pause: 1_000,
    work: async () => {
      count += 1;
      const ofVisitor = count % 2 === 0 ? toErase : '';
      const acknowledged = scene.load.attempts.filter(isAcknowledged);
      const some = acknowledged.filter(({ body }) => body.visitorId.startsWith(ofVisitor));
      const attempt = some[Math.floor(Math.random() * some.length)];
      if (!attempt) return;
      const { site, body } = attempt;
      const answer = await callOnce(scene, proofOf(site, body.id, forms[0])).catch(() => undefined);
      const file = answer && (await bodyOf(answer).catch(() => undefined));
      if (!answer || !file) return;
      scene.expect(foreseen.includes(answer.status), `a proof is answered ${answer.status}`);
      if (!answer.ok) return;
      taken.set(body.id, new Uint8Array(file));
      if (ofVisitor) ofErased += 1;
    },
    check: async () => {
      for (const what of await checkProofs(scene, taken)) scene.expect(false, `I8: ${what}`);
      scene.expect(ofErased > 0 && ofErased < taken.size, `of ${taken.size} proofs ${ofErased} are of erased visitors`);
      console.log(`${taken.size} proofs were taken, ${ofErased} of erased visitors, and all asked for again`);
    },
  };
}
