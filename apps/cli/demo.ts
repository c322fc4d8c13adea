import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { dayOf, monthOf, spanOf } from '#libs/contract/calendar';
import { totalOf, wholeOrganization } from '#libs/contract/terms';
import { findDrift } from '#libs/counters/drift';
import { isReady } from '#libs/counters/fill';
import { shardOf } from '#libs/queue/names';
import { createProducer, type Producer } from '#libs/queue/produce';
import type { RedisConnection } from '#libs/runtime/redis';
import { listCountersSince, readCounts } from '#libs/store/counters';
import { listDroppedMonths } from '#libs/store/records/months';
import { findStored } from '#libs/store/records/stored';
import type { Database } from '#libs/store/sql';
import type { Administration } from '#libs/store/tenants/administration';
import { findOrganizations, type Organization } from '#libs/store/tenants/tenants';
import { type Portion, type Progress, send } from './demo/fill.ts';
import { createProgressLine, grouped } from './demo/progress.ts';
import { sites } from './demo/sites.ts';
import { type Period, planDays, recordsOf, type SiteDay } from './demo/visits.ts';
import { isJson, print, readConfig, readDemo, withDatabase, withRedis } from './session.ts';
import { visible } from './visible.ts';

const defaults = { records: 200_000, months: 12, seed: 'assent' };
/** Milliseconds that a raise may be on its way, and that a worker may take to fill an organization's counters. */
const raisePatience = 5_000;
const fillPatience = 30_000;
/** A terminal and npm may both pass on one Ctrl-C; only a signal after this many milliseconds is a second one. */
const oneCtrlC = 1_000;

const within = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new InvalidArgumentError(`a whole number from ${min} to ${max}`);
  return value;
};

const moment = (text: string): number => {
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!(time <= Date.now())) throw new InvalidArgumentError('a UTC time that is past, such as 2026-11-20T12:00:00Z');
  return time;
};

interface FillOptions {
  records: number;
  months: number;
  seed: string;
  until?: number;
  org?: string;
}

export function demoCommand(): Command {
  const command = new Command('demo').description('the demo organization of npm start');
  command
    .command('fill')
    .summary('fill it with a made-up year')
    .description(
      `fill the demo organization with ${sites.length} made-up sites and a year of what their visitors decided. ` +
        'The records are queued as the API queues them, for the running worker to store and count; the API is not asked, ' +
        'since it takes nothing older than 30 days. Each has `demo` in its metadata. Running it again adds what is missing: ' +
        'the same options make the same records. 200,000 take about half a minute',
    )
    .option('--records <n>', 'about how many', within(1, 10_000_000), defaults.records)
    .option('--months <n>', 'how far back', within(1, 60), defaults.months)
    .option('--seed <text>', 'another seed, other records', defaults.seed)
    .option('--until <time>', 'nothing later than this UTC time; default: now', moment)
    .option('--org <org>', 'another organization than the demo one; records cannot be taken back')
    .action(async (options: FillOptions, self: Command) => {
      const organizationId = options.org ?? readDemo()?.organizationId;
      if (organizationId === undefined) {
        throw new Error('no demo organization is here: run npm start in another terminal, or name one with --org');
      }
      const period = { ...options, until: options.until ?? Date.now() };
      await withDatabase((db, admin) =>
        withRedis(async (redis) => {
          const producer = createProducer(redis, readConfig().connections().queueShards);
          try {
            await producer.ready();
            const isOther = options.org !== undefined;
            await fill({ db, admin, redis, producer, organizationId, isOther, period, self });
          } finally {
            await producer.close();
          }
        }),
      );
    });
  return command;
}

interface Fill {
  db: Database;
  admin: Administration;
  redis: RedisConnection;
  producer: Producer;
  organizationId: string;
  /** not the demo's own: it may have records that count */
  isOther: boolean;
  period: Period;
  self: Command;
}

async function fill({ db, admin, redis, producer, organizationId, isOther, period, self }: Fill): Promise<void> {
  const days = planDays(period);
  const organization = await findOrganization(db, organizationId);
  await refuseDroppedMonths(db, days);
  await refuseReachedLimit(db, organization, days, period, isOther);
  await refuseAbsentWorker(producer);

  const domains = await ensureDomains(organization, admin);
  const { queueShards } = readConfig().connections();
  const shard = shardOf(organizationId, queueShards);
  const path = {
    add: (records: Portion['records']) => producer.add(shard, records),
    findStored: (records: Portion['records']) => db.run((sql) => findStored(sql, records)),
  };
  const interrupt = onInterrupt();
  const line = createProgressLine(process.stdout, isJson(self));
  const started = performance.now();
  let progress: Progress;
  try {
    progress = await send(portionsOf(days, domains, period), path, { stop: interrupt.signal, onProgress: line.show });
  } finally {
    line.end();
    interrupt.end();
  }
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const stopped = interrupt.signal.aborted && progress.done < 1;
  const counters = await checkCounters(db, redis, organizationId, days);
  const { added, present, date } = progress;
  const result = { organizationId, added, present, seconds, perSecond: Math.round(added / Math.max(seconds, 0.1)) };
  print(self, { ...result, stopped, reached: date, counters });
  if (counters.differences > 0) process.exitCode = 1;
  else if (stopped) process.exitCode = 130;
  if (!isJson(self)) process.stdout.write(`\n${await advice(db, organization, { stopped, period })}\n`);
}

async function findOrganization(db: Database, organizationId: string): Promise<Organization> {
  const found = (await db.run((sql) => findOrganizations(sql, [organizationId]))).get(organizationId);
  if (!found) throw new Error(`no organization ${organizationId}`);
  return found;
}

/** Records of a month that retention has dropped would be refused one by one. */
async function refuseDroppedMonths(db: Database, days: SiteDay[]): Promise<void> {
  const first = days[0]?.date.slice(0, 7) ?? '';
  const dropped = (await db.run(listDroppedMonths)).filter((month) => month >= first).at(-1);
  if (dropped) throw new Error(`the records of ${dropped} are past their retention: choose fewer --months`);
}

/** At the limit the log shows only its newest 10 records: nobody wants that of a demo without having asked for it. */
async function refuseReachedLimit(
  db: Database,
  { organizationId, plan }: Organization,
  days: SiteDay[],
  { until }: Period,
  isOther: boolean,
): Promise<void> {
  const limit = plan.monthlyRecordLimit;
  if (limit === null) return;
  const month = monthOf(until);
  const visits = days.reduce((sum, { date, visits }) => sum + (date.startsWith(month) ? visits : 0), 0);
  const used = await usedIn(db, organizationId, month);
  // the demo's own records of this month may be those of an earlier fill, which are not made again
  if (used >= limit || visits + (isOther ? used : 0) < limit) return;
  throw new Error(
    `the plan ${plan.name} shows ${grouped(limit)} records a month, and this would make some ${grouped(visits)} in ${month}: ` +
      'choose fewer --records, or change the plan',
  );
}

async function usedIn(db: Database, organizationId: string, month: string): Promise<number> {
  const wanted = { organizationId, domainId: wholeOrganization, spans: [spanOf(month)] };
  const counts = (await db.run((sql) => readCounts(sql, wanted))).get(month);
  return counts ? totalOf(counts) : 0;
}

async function refuseAbsentWorker(producer: Producer): Promise<void> {
  const counts = await Promise.all(producer.queues().map((queue) => queue.getWorkersCount()));
  if (counts.every((count) => count === 0)) {
    throw new Error('no worker is there to store anything: run npm start in another terminal, or npm run worker');
  }
}

/** The demo's own domain is there; the others are made at the first fill. Returns their ids by name. */
async function ensureDomains(
  { organizationId, domains }: Organization,
  admin: Administration,
): Promise<Map<string, string>> {
  const ids = new Map(domains.map(({ name, domainId }) => [name, domainId]));
  for (const { name } of sites) {
    if (ids.has(name)) continue;
    const { domainId } = await admin.createDomain(organizationId, { name, origins: [`https://${name}`] });
    ids.set(name, domainId);
  }
  return ids;
}

function* portionsOf(days: SiteDay[], domains: Map<string, string>, period: Period): Generator<Portion> {
  const visits = days.reduce((sum, day) => sum + day.visits, 0);
  let made = 0;
  for (const day of days) {
    made += day.visits;
    const domainId = domains.get(day.site.name);
    if (!domainId) throw new Error(`no domain ${day.site.name}`);
    const records = recordsOf(day, period).map((record) => ({ ...record, domainId }));
    yield { records, date: day.date, done: visits === 0 ? 1 : made / visits };
  }
}

/** The whole of the counters that the records went into, in Redis and in Postgres. */
async function checkCounters(db: Database, redis: RedisConnection, organizationId: string, days: SiteDay[]) {
  const end = performance.now() + fillPatience;
  while (!(await isReady(redis, organizationId)) && performance.now() < end) await sleep(100);
  const since = days[0]?.date ?? dayOf(Date.now());
  const { checked, differences } = await findDrift(redis, organizationId, {
    since,
    patience: raisePatience,
    listCounters: () => db.run((sql) => listCountersSince(sql, organizationId, since)),
  });
  return { checked, differences: differences.length };
}

/** The first Ctrl-C asks for an end, a later one is one. */
function onInterrupt(): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  let first: number | undefined;
  const stop = () => {
    first ??= performance.now();
    if (performance.now() - first > oneCtrlC) process.exit(130);
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.on(name, stop);
  return {
    signal: controller.signal,
    end: () => {
      for (const name of signals) process.off(name, stop);
    },
  };
}

/** What to do next. */
async function advice(
  db: Database,
  { organizationId, plan }: Organization,
  { stopped, period }: { stopped: boolean; period: Period },
): Promise<string> {
  if (stopped) return 'Stopped; all that was sent is stored and counted. Run it again to go on from there.';
  const used = await usedIn(db, organizationId, monthOf(period.until));
  const round = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(used, 1))) - 1);
  const limit = Math.ceil(used / 0.6 / round) * round;
  const lines = [
    'Look at it with the token and the commands that npm start has printed, such as GET /v1/consent/org-stats.',
    'Run it again on another day, and the days since are added.',
  ];
  if (plan.monthlyRecordLimit === null) {
    lines.push(`To see a monthly limit at work: assent plan set ${visible(plan.name)} --monthly-limit ${limit}`);
  }
  return lines.join('\n');
}
