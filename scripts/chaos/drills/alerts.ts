/** Each alert of docs/monitoring, in a real Prometheus: silent until its fault begins, and again once that is over. */
import { randomBytes } from 'node:crypto';
import { Queue } from 'bullmq';
import { dayOf } from '#libs/contract/calendar';
import { packJob } from '#libs/contract/job';
import { counterField, counterKey } from '#libs/counters/keys';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import type { AssentProcess } from '../../stack/assent-process.ts';
import { postRecord, read, signToken } from '../../stack/client.ts';
import { freePort } from '../../stack/ports.ts';
import { waitUntil } from '../../stack/wait.ts';
import { type Drill, drill, hold, type Scene } from '../drill.ts';
import { fillRedis, killOf, lockTable, makeRoom } from '../faults.ts';
import { makeBody } from '../load.ts';
import { callOnce } from '../random/calls.ts';
import { setOnPrimary } from '../replicated.ts';
import { setBack } from '../set-back.ts';
import { type Watch, watch } from '../watch.ts';

/** Seconds: the thresholds of the rules in seconds, and what stands for them here. */
const ages = { 60: 5, 600: 8, 900: 8, 21600: 8, 172800: 20 };
/** milliseconds within which an alert fires, and is silent again */
const patience = 90_000;

interface Parts {
  scene: Scene;
  /** those that run now */
  api: AssentProcess;
  worker: AssentProcess;
  /** with which a process is started again */
  env: { api: Record<string, string>; worker: Record<string, string> };
  /** between the API and Redis */
  toRedis: { set(weather: number | 'pass'): void };
}

interface Fault {
  /** that have to fire */
  alerts: string[];
  /** that may fire too */
  may?: string[];
  /** Returns what ends it. */
  begin: (parts: Parts) => Promise<() => unknown>;
}

/** that may fire with every fault: it makes work, and a drill's machine may be short of time */
const slow = ['RecordingSlow', 'EventLoopLag', 'ProcessDown'];
const notStoring = ['QueueOld', 'DerivationLag', 'EpochOpen', 'RaisesOwed'];

/** Does it again and again, until what is returned is called. */
function again(seconds: number, work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const working = (async () => {
    while (!isOver) {
      await work();
      await hold(seconds);
    }
  })();
  return () => {
    isOver = true;
    return working;
  };
}

const queueDo = <T>({ redisDo }: Scene, work: (queue: Queue) => Promise<T>): Promise<T> =>
  redisDo(async (redis) => {
    const queue = new Queue(recordQueue(0), { connection: redis, prefix: queuePrefix });
    return work(queue).finally(() => queue.close());
  });

const lock =
  (table: string) =>
  ({ scene }: Parts) =>
    lockTable(scene, table);

/** Postgres archives its write-ahead log with this command, and has a piece of it to archive. */
async function archiveBy(scene: Scene, command: string): Promise<void> {
  await setOnPrimary(scene, 'archive_command', command);
  await scene.sql((sql) => sql`select pg_switch_wal()`);
}

const faults: Fault[] = [
  {
    alerts: ['ApiDown'],
    begin: async (parts) => {
      await parts.scene.kill(parts.api);
      return async () => {
        parts.api = await parts.scene.api(parts.env.api);
      };
    },
  },
  {
    alerts: ['WorkerDown', 'QueueOld'],
    may: notStoring,
    begin: async (parts) => {
      await parts.scene.kill(parts.worker);
      return async () => {
        parts.worker = await parts.scene.worker(parts.env.worker);
      };
    },
  },
  {
    alerts: ['ProcessDown'],
    begin: async ({ scene, env }) => {
      const other = await scene.start('api', env.api);
      process.kill(other.process.pid, 'SIGSTOP');
      return () => scene.kill(other);
    },
  },
  {
    alerts: ['RedisUnusable', 'RaisesOwed'],
    may: ['CounterDrift', 'DerivationLag', 'PoolFull'],
    begin: ({ scene }) => killOf('redis')(scene),
  },
  {
    alerts: ['RedisFilling'],
    may: ['RedisUnusable', 'RaisesOwed', 'CounterDrift'],
    begin: async ({ scene }) => {
      await fillRedis(scene, 1 / 0.7);
      return () => makeRoom(scene);
    },
  },
  {
    alerts: ['RecordsRefused', 'Errors', 'PostgresUnusable'],
    may: ['ApiDown', 'RedisUnusable', 'CounterDrift', 'HousekeepingLate', ...notStoring, 'PoolFull'],
    begin: async ({ scene }) => {
      const ends = [await killOf('redis')(scene), await killOf('postgres')(scene)];
      return () => Promise.all(ends.map((end) => end()));
    },
  },
  {
    alerts: ['RecordingSlow'],
    may: ['RedisUnusable', 'RaisesOwed', 'QueueOld', 'PoolFull'],
    begin: async ({ toRedis }) => {
      // there and back: more than the rule allows with the wait for a batch, and less than the API's patience with Redis
      toRedis.set(200);
      return () => toRedis.set('pass');
    },
  },
  {
    alerts: ['ReplicaUnused'],
    begin: async ({ scene, env }) => {
      const { url } = scene.postgres.running();
      // a primary is no replica
      const other = await scene.start('api', { ...env.api, DATABASE_READ_URL: `${url}&sslmode=disable` });
      return () => other.process.stop();
    },
  },
  {
    alerts: ['JobsFailed'],
    begin: async ({ scene }) => {
      await queueDo(scene, (queue) => queue.add('record', 'unreadable'));
      return () => queueDo(scene, (queue) => queue.clean(0, 100, 'failed'));
    },
  },
  {
    alerts: ['RecordsRejected'],
    begin: async ({ scene }) => {
      scene.allowed.rejected += 1;
      const { domainId } = scene.site;
      const receivedAt = new Date().toISOString();
      const refused = { ...makeBody(), domainId, receivedAt, visitorId: 'nul \0 in the middle' };
      await queueDo(scene, (queue) => queue.add('record', packJob([refused])));
      return () => {};
    },
  },
  {
    alerts: ['CounterDrift'],
    begin: async ({ scene }) => {
      const { organizationId, domainId } = scene.site;
      const day = dayOf(Date.now());
      await scene.redisDo((redis) =>
        redis.hset(counterKey(organizationId, domainId, day), counterField(day), '9999 0 0 0'),
      );
      return () => {};
    },
  },
  { alerts: ['EpochOpen'], may: notStoring, begin: lock('closed_epochs') },
  { alerts: ['DerivationLag'], may: notStoring, begin: lock('facets') },
  {
    alerts: ['TimestampOld'],
    begin: async ({ scene, env }) => {
      // nothing listens there
      const other = await scene.worker({ ...env.worker, TIMESTAMP_URL: 'http://127.0.0.1:9/' });
      return () => other.process.stop();
    },
  },
  {
    alerts: ['RecordsUnwanted'],
    begin: async ({ scene, api }) => {
      const wrong = { ...scene.site, apiKey: `ak_${randomBytes(16).toString('hex')}` };
      return again(0.02, () =>
        Promise.all(Array.from({ length: 5 }, () => postRecord(api.baseUrl, wrong, makeBody()))),
      );
    },
  },
  {
    alerts: ['HousekeepingLate'],
    begin: async ({ scene }) => {
      const succeeded = (ago: string) => () =>
        scene.sql(
          (sql) => sql`update housekeeping_tasks set succeeded_at = now() - ${ago}::interval where task = 'bookmarks'`,
        );
      await succeeded('4 hours')();
      return succeeded('0');
    },
  },
  {
    alerts: ['ArchiveFailing'],
    begin: async ({ scene }) => {
      await archiveBy(scene, 'false');
      return () => archiveBy(scene, 'true');
    },
  },
  {
    alerts: ['WebhooksFailing'],
    begin: async ({ scene, api }) => {
      const webhooks = { site: scene.site, scope: 'manage read', path: '/v1/organization/webhooks' };
      const url = `http://127.0.0.1:${await freePort()}/`;
      const body = JSON.stringify({ url, types: ['records.sealed'] });
      const made = await callOnce(scene, api.baseUrl, { ...webhooks, method: 'POST', body });
      if (!made.ok) throw new Error(`no webhook was made: ${await made.text()}`);
      const { webhookId } = (await made.json()) as { webhookId: string };
      const path = `${webhooks.path}/${webhookId}`;
      return () => callOnce(scene, api.baseUrl, { ...webhooks, path, method: 'DELETE' });
    },
  },
  {
    alerts: ['PoolFull'],
    may: [...notStoring, 'Errors', 'RecordsRefused', 'PostgresUnusable', 'RedisUnusable'],
    begin: async ({ scene, api }) => {
      const release = await lockTable(scene, 'organizations', 'access exclusive');
      const token = signToken(scene.site.organizationId, scene.jwtSecret);
      const ask = () => read(`${api.baseUrl}/v1/organization`, token).then((answer) => answer.arrayBuffer());
      const end = again(0, () => Promise.allSettled(Array.from({ length: 40 }, ask)));
      return async () => {
        await release();
        await end();
      };
    },
  },
  {
    alerts: ['EventLoopLag'],
    may: ['RedisUnusable', 'RaisesOwed', 'QueueOld'],
    begin: async ({ api: { process: child } }) =>
      again(0.3, async () => {
        process.kill(child.pid, 'SIGSTOP');
        await hold(0.5);
        process.kill(child.pid, 'SIGCONT');
      }),
  },
];

async function fireInTurn(parts: Parts, { ask, firing, active }: Watch): Promise<void> {
  const { scene } = parts;
  let seen: string[] = [];
  // nor is one about to fire, which would be taken for an effect of the next fault
  const isSilent = async () => {
    seen = await active();
    return seen.length === 0;
  };
  await scene.until(async () => (await ask('count(up == 1)'))[''] === 2, 'Prometheus reaches both processes');
  for (const { alerts, may = [], begin } of faults) {
    const name = alerts.join(' and ');
    await scene.until(isSilent, `alerts are silent before ${name}`, patience);
    scene.expect(seen.length === 0, `before ${name} these fire: ${seen.join(', ')}`);
    const others = new Set<string>();
    const end = await begin(parts);
    const isFiring = async () => {
      seen = await firing();
      for (const each of seen) if (![...alerts, ...may, ...slow].includes(each)) others.add(each);
      return alerts.every((alert) => seen.includes(alert));
    };
    const began = performance.now();
    const fired = await waitUntil(isFiring, { deadlineMs: patience, intervalMs: 200 });
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    console.log(`alerts: ${name}: ${fired ? `fired after ${seconds} s` : `SILENT, but ${seen.join(', ')}`}`);
    scene.expect(fired, `${name} is silent`);
    scene.expect(others.size === 0, `with ${name} these fired: ${[...others].join(', ')}`);
    await end();
  }
  await scene.until(isSilent, `alerts are silent at the end, not ${seen.join(', ')}`, patience);
}

export const alertDrills: Drill[] = [
  drill('alerts', 'each alert fires in a real Prometheus when it should, and only then', async (scene) => {
    const toRedis = await scene.proxy('redis');
    const webhooks = { SECRETS_KEY: randomBytes(32).toString('hex'), WEBHOOK_ALLOW_PRIVATE: 'true' };
    const env = { api: { ...toRedis.env, ...webhooks }, worker: webhooks };
    await setOnPrimary(scene, 'archive_command', 'true');
    await setOnPrimary(scene, 'archive_mode', 'on');
    await scene.postgres.running().stop();
    await scene.postgres.start();
    const begun = await scene.begin(env);
    const prometheus = await watch(scene, ages);
    const parts: Parts = { scene, ...begun, env, toRedis };
    await fireInTurn(parts, prometheus);
    await setBack(scene, { asAnother: true });
    await scene.redisDo((redis) => redis.flushall());
    const isHalted = async () => (await prometheus.firing()).includes('LogsHalted');
    await scene.until(isHalted, 'LogsHalted fires', patience);
    for (const { domainId } of scene.sites) await scene.assent('log', 'restart', domainId);
    scene.load.begin();
    await scene.healed(100);
    await scene.until(async () => !(await isHalted()), 'LogsHalted is silent again', patience);
  }),
];
