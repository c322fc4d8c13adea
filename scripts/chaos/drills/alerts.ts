/** Each alert of docs/monitoring, in a real Prometheus: silent until its fault begins, and again once that is over. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Queue } from 'bullmq';
import { parse } from 'yaml';
import { z } from 'zod';
import { dayOf } from '#libs/base/terms/calendar';
import { every } from '#libs/base/timers';
import { packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { counterField, counterKey } from '#libs/stats/redis-counters';
import { root } from '../../stack/paths.ts';
import { freePort } from '../../stack/ports.ts';
import { startPrometheus } from '../../stack/prometheus.ts';
import { writeFor } from '../../stack/service-user.ts';
import { postRecord } from '../../stack/sites.ts';
import { bodyOf, callOnce, callUntilDone } from '../calls.ts';
import type { Drill } from '../drill.ts';
import { type End, fillRedis, kill, lockTable, restart, setOnPrimary } from '../faults.ts';
import { makeBody } from '../load.ts';
import { type Env, hold, type Scene } from '../scene.ts';
import { type AppProcess, webhookSettings } from '../stack.ts';

/** Seconds: the thresholds of the rules in seconds, and what stands for them here. */
const ages = { 60: 5, 600: 8, 900: 8, 21600: 8, 172800: 20 };
/** of pages, where people sign in */
const origin = 'https://consent.example.com';
/** milliseconds within which an alert fires, and is silent again */
const patience = 90_000;

interface Scenery {
  scene: Scene;
  /** those that run now, and with which settings they are started again */
  running: { api: AppProcess; worker: AppProcess };
  env: { api: Env; worker: Env };
  /** between the API and Redis */
  toRedis: { set(weather: number | 'pass'): void };
}

type Begin = (scenery: Scenery) => Promise<End> | End;

/** What may fire with every fault: it makes work, which a small machine is late with, and some follow from others. */
const effects = [
  ...['RecordingSlow', 'EventLoopLag', 'ProcessDown', 'PoolFull', 'RedisUnusable', 'RaisesOwed', 'CounterDrift'],
  ...['QueueOld', 'DerivationLag', 'EpochOpen'],
];
/** What may fire with some faults too, by the alert that has to. */
const ownEffects: Record<string, string[]> = {
  PostgresUnusable: ['ApiDown', 'HousekeepingLate'],
  PoolFull: ['Errors', 'RecordsRefused', 'PostgresUnusable'],
};

const nothing = () => {};

/** Does it again and again, until what is returned is called. */
const again = (seconds: number, task: () => Promise<unknown>): End =>
  every({ name: 'a fault', pace: seconds * 1_000, task, failed: nothing }).stop;

const killed =
  (app: 'api' | 'worker'): Begin =>
  async ({ scene, running, env }) => {
    await scene.kill(running[app]);
    return async () => {
      running[app] = await scene[app](env[app]);
    };
  };

/** One more process, which is at fault. */
const beside =
  (app: 'api' | 'worker', settings: (scene: Scene) => Env): Begin =>
  async ({ scene, env }) => {
    const other = await scene.start(app, { ...env[app], ...settings(scene) });
    return () => other.process.stop();
  };

const queueDo = <T>({ redisDo }: Scene, work: (queue: Queue) => Promise<T>): Promise<T> =>
  redisDo(async (redis) => {
    const queue = new Queue(recordQueue(0), { connection: redis, prefix: queuePrefix });
    return work(queue).finally(() => queue.close());
  });

/** Postgres archives its write-ahead log with this command, and has a piece of it to archive. */
async function archiveBy(scene: Scene, command: string): Promise<void> {
  await setOnPrimary(scene, 'archive_command', command);
  await scene.sql((sql) => sql`select pg_switch_wal()`);
}

/** Each by the alerts that have to fire. */
const faults: Record<string, Begin> = {
  ApiDown: killed('api'),
  'WorkerDown QueueOld': killed('worker'),
  ProcessDown: async ({ scene, env }) => {
    const other = await scene.start('api', env.api);
    other.freeze();
    return () => scene.kill(other);
  },
  'RedisUnusable RaisesOwed': ({ scene }) => kill(scene.redis),
  RedisFilling: ({ scene }) => fillRedis(scene, 1 / 0.7),
  'RecordsRefused Errors PostgresUnusable': async ({ scene }) => {
    const ends = [await kill(scene.redis), await kill(scene.postgres)];
    return () => Promise.all(ends.map((end) => end()));
  },
  RecordingSlow: ({ toRedis }) => {
    // there and back: more than the rule allows with the wait for a batch, and less than the API's patience with Redis
    toRedis.set(200);
    return () => toRedis.set('pass');
  },
  // a primary is no replica
  ReplicaUnused: beside('api', ({ postgres }) => ({ DATABASE_READ_URL: `${postgres.url}&sslmode=disable` })),
  JobsFailed: async ({ scene }) => {
    await queueDo(scene, (queue) => queue.add('record', 'unreadable'));
    return () => queueDo(scene, (queue) => queue.clean(0, 100, 'failed'));
  },
  RecordsRejected: async ({ scene }) => {
    const body = { ...makeBody(), visitorId: 'nul \0 in the middle' };
    const record = { ...body, domainId: scene.site.domainId, receivedAt: new Date().toISOString() };
    await queueDo(scene, (queue) => queue.add('record', packJob([record])));
    return nothing;
  },
  CounterDrift: async ({ scene }) => {
    const { organizationId, domainId } = scene.site;
    const day = dayOf(Date.now());
    const key = counterKey(organizationId, domainId, day);
    await scene.redisDo((redis) => redis.hset(key, counterField(day), '9999 0 0 0'));
    return nothing;
  },
  EpochOpen: ({ scene }) => lockTable(scene, 'closed_epochs'),
  DerivationLag: ({ scene }) => lockTable(scene, 'facets'),
  // nothing listens there
  TimestampOld: beside('worker', () => ({ TIMESTAMP_URL: 'http://127.0.0.1:9/' })),
  RecordsUnwanted: ({ scene }) => {
    const wrong = { ...scene.site, apiKey: `ak_${randomBytes(16).toString('hex')}` };
    const refused = () => postRecord(scene.anyApi().baseUrl, wrong, makeBody());
    return again(0.02, () => Promise.all(Array.from({ length: 5 }, refused)));
  },
  SignInsFailing: ({ scene }) => {
    const headers = { origin, 'content-type': 'application/json' };
    const signIn = () => {
      const body = JSON.stringify({ email: `${randomBytes(4).toString('hex')}@example.com`, password: 'wrong' });
      return fetch(`${scene.anyApi().baseUrl}/v1/sign-in/password`, { method: 'POST', headers, body });
    };
    return again(0.5, signIn);
  },
  HousekeepingLate: async ({ scene }) => {
    const succeeded = (ago: string) =>
      scene.sql((sql) => sql`update tasks set succeeded_at = now() - ${ago}::interval where name = 'userAgents'`);
    await succeeded('4 hours');
    return () => succeeded('0');
  },
  ClockSkew: beside('worker', () => ({
    NODE_OPTIONS: '--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+45e3',
  })),
  MonthsDue: async ({ scene }) => {
    const find = (at: Date | null) =>
      scene.sql(
        (sql) => sql`
          update record_months set drop_round_at = ${at} where month = (select min(month) from record_months)`,
      );
    await find(new Date());
    return () => find(null);
  },
  LogsHalted: async ({ scene }) => {
    const halt = (why: string | null) => scene.sql((sql) => sql`update logs set halted = ${why}`);
    await halt('unconfirmed');
    return () => halt(null);
  },
  ArchiveFailing: async ({ scene }) => {
    await archiveBy(scene, 'false');
    return () => archiveBy(scene, 'true');
  },
  ArchiveOff: async ({ scene }) => {
    const archive = async (mode: string) => {
      await setOnPrimary(scene, 'archive_mode', mode);
      await (await restart(scene.postgres))();
    };
    await archive('off');
    return () => archive('on');
  },
  WebhooksFailing: async ({ scene }) => {
    const webhooks = { scope: 'manage read', path: '/v1/organization/webhooks' };
    const body = JSON.stringify({ url: `http://127.0.0.1:${await freePort()}/`, types: ['records.sealed'] });
    const made = String(await callUntilDone(scene, { ...webhooks, method: 'POST', body }));
    const { webhookId } = JSON.parse(made) as { webhookId: string };
    return () => callOnce(scene, { ...webhooks, path: `${webhooks.path}/${webhookId}`, method: 'DELETE' });
  },
  PoolFull: async ({ scene }) => {
    const release = await lockTable(scene, 'organizations', 'access exclusive');
    const ask = () => callOnce(scene, { path: '/v1/organization' }).then(bodyOf);
    const end = again(0, () => Promise.allSettled(Array.from({ length: 40 }, ask)));
    return async () => {
      await release();
      await end();
    };
  },
  EventLoopLag: ({ running: { api } }) =>
    again(0.3, async () => {
      api.freeze();
      await hold(0.5);
      api.thaw();
    }),
};

async function fireAll(scene: Scene): Promise<void> {
  const toRedis = await scene.proxy('redis');
  const webhooks = webhookSettings();
  const env = { api: { ...toRedis.env, ...webhooks, PUBLIC_URL: origin }, worker: webhooks };
  await setOnPrimary(scene, 'archive_command', 'true');
  await setOnPrimary(scene, 'archive_mode', 'on');
  await (await restart(scene.postgres))();
  const scenery = { scene, running: await scene.begin(env), env, toRedis };
  const list = await watch(scene, ages);

  // nor is one about to fire, which would be taken for an effect of the next fault
  const isSilent = async () => (await list()).active.length === 0;
  await scene.until(isSilent, 'all are silent before the first fault', patience);
  for (const [names, begin] of Object.entries(faults)) {
    const alerts = names.split(' ');
    const seen = new Set<string>();
    const end = await begin(scenery);
    const began = performance.now();
    const fire = async () => {
      const { firing } = await list();
      for (const alert of firing) seen.add(alert);
      return alerts.every((alert) => firing.includes(alert));
    };
    await scene.until(fire, `${names} fire`, patience);
    console.log(`alerts: ${names} after ${((performance.now() - began) / 1_000).toFixed(0)} s`);
    const may = [...alerts, ...effects, ...alerts.flatMap((alert) => ownEffects[alert] ?? [])];
    for (const alert of seen) scene.expect(may.includes(alert), `with ${names} ${alert} fired`);
    await end();
    await scene.until(isSilent, `all are silent after ${names}`, patience);
  }
}

export const alertDrills: Drill[] = [
  {
    name: 'alerts',
    about: 'each alert fires in a real Prometheus when it should, and only then',
    rejected: 1,
    run: fireAll,
  },
];

/** A process that waits for a store may take its time to answer. */
const pace = '3s';
const firesAfter = '5s';
/** of which rates are taken */
const rates = '[15s]';
/** milliseconds between two looks at which processes run */
const lookEvery = 250;

const rules = z.object({
  groups: z.array(z.looseObject({ rules: z.array(z.looseObject({ expr: z.string(), for: z.string().optional() })) })),
});
const listed = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.object({ alertname: z.string() }) })) }),
});
const scraped = z.object({ data: z.object({ activeTargets: z.array(z.object({ health: z.string() })) }) });

/** Minutes and hours of the rules become seconds; `ages`: the shipped thresholds in seconds, and those in use here. */
function soonerRules(ages: Record<string, number>) {
  const file = rules.parse(parse(readFileSync(path.join(root, 'docs/monitoring/alerts.yml'), 'utf8')));
  for (const rule of file.groups.flatMap((group) => group.rules)) {
    rule.for = firesAfter;
    rule.expr = rule.expr
      .replaceAll(/\[\d+[mh]\]/g, rates)
      .replace(/> (\d{2,})$/, (whole, age: string) => (ages[age] === undefined ? whole : `> ${ages[age]}`));
  }
  return file;
}

async function watch(scene: Scene, ages: Record<string, number>) {
  const dataDir = path.join(scene.folder, 'prometheus');
  mkdirSync(dataDir);
  const write = (name: string, content: object) =>
    writeFor(undefined, path.join(dataDir, name), JSON.stringify(content));
  const apps = ['api', 'worker'] as const;
  const writeTargets = () => {
    for (const app of apps) {
      const running = scene.processes.filter((each) => each.app === app && each.process.running());
      write(`${app}.json`, [{ targets: running.map(({ opsUrl }) => new URL(opsUrl).host) }]);
    }
  };
  writeTargets();
  write('alerts.yml', soonerRules(ages));
  write('prometheus.yml', {
    global: { scrape_interval: pace, scrape_timeout: pace, evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: apps.map((app) => ({
      job_name: `assent-${app}`,
      file_sd_configs: [{ files: [`${app}.json`], refresh_interval: '1s' }],
    })),
  });
  const { url, stop } = await startPrometheus(dataDir, 'prometheus.yml');
  scene.onStop(stop);
  const timer = setInterval(writeTargets, lookEvery);
  scene.onStop(() => clearInterval(timer));

  const get = async (what: string) => (await fetch(`${url}/api/v1/${what}`)).json();
  const isUp = async () => {
    const { activeTargets } = scraped.parse(await get('targets')).data;
    return activeTargets.length === scene.processes.length && activeTargets.every(({ health }) => health === 'up');
  };
  await scene.until(isUp, 'Prometheus reaches every process');
  /** Those that fire, and those that will if what they are about does not end. */
  return async () => {
    const { alerts } = listed.parse(await get('alerts')).data;
    const namesOf = (some: typeof alerts) => some.map(({ labels }) => labels.alertname.replace(/^Assent/, ''));
    return { active: namesOf(alerts), firing: namesOf(alerts.filter(({ state }) => state === 'firing')) };
  };
}
