/** What clients send: the same id many times, poison, and times of a wrong clock. */
import { Queue } from 'bullmq';
import { packJob } from '#libs/contract/job';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { begin, type Drill } from '../drill.ts';
import { firstSite, throughProxy } from '../faults.ts';
import { type Body, makeBody } from '../load.ts';

const day = 24 * 60 * 60 * 1_000;

export const recordDrills: Drill[] = [
  {
    name: 'same-id',
    about: 'one id posted 20 times at once, and again after its job is gone; 30 ids so',
    quick: true,
    run: async (scene) => {
      await begin(scene);
      const bodies = Array.from({ length: 30 }, () => makeBody());
      const site = firstSite(scene);
      const postAll = (body: Body) => Promise.all(Array.from({ length: 20 }, () => scene.load.send(site, body)));
      for (const body of bodies) await postAll(body);
      await scene.until(async () => {
        const rows = await scene.stack.sql(
          (sql) => sql`select from records where id = any(${bodies.map(({ id }) => id)})`,
        );
        return rows.length === bodies.length;
      }, 'all of them are stored');
      for (const body of bodies) await scene.load.send(site, { ...body, decision: 'withdraw' });
      scene.healed();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'direct-races-worker',
    about: "one API persists directly what another API's worker has in hand: the same ids at the same time",
    quick: true,
    run: async (scene) => {
      const { api } = await begin(scene);
      const proxy = await scene.proxy(scene.stack.redis().port);
      proxy.set('refuse');
      const cutOff = await scene.stack.startApi({ REDIS_URL: throughProxy(scene.stack.redis().url, proxy.port) });
      const sites = scene.stack.sites;
      for (let round = 0; round < 20; round += 1) {
        const pairs = Array.from({ length: 25 }, (_, index) => ({
          site: sites[index % sites.length],
          body: makeBody(),
        }));
        await Promise.all(
          pairs.flatMap(({ site, body }) =>
            site
              ? [
                  scene.load.send(site, body, api.baseUrl),
                  scene.load.send(site, { ...body, decision: 'custom' }, cutOff.baseUrl),
                ]
              : [],
          ),
        );
      }
      const direct = scene.load.attempts.filter(({ how }) => how === 'persisted').length;
      scene.expect(direct >= 400, `only ${direct} records were persisted directly`);
      await proxy.close();
      scene.healed();
    },
  },
  {
    name: 'poison',
    about: 'a record that Postgres refuses, in the middle of a batch: the others are stored, it is kept with its error',
    quick: true,
    rejected: 1,
    run: async (scene) => {
      await begin(scene);
      const { domainId } = firstSite(scene);
      const bodies = Array.from({ length: 20 }, () => makeBody());
      const receivedAt = new Date().toISOString();
      const records = bodies.map((body) => ({ ...body, domainId, receivedAt, source: 'banner' as const }));
      const poison = records[10];
      if (poison) poison.visitorId = 'nul \0 in the middle';
      await scene.stack.redisDo(async (redis) => {
        const queue = new Queue(recordQueue(0), { connection: redis, prefix: queuePrefix });
        await queue.add('record', packJob(records));
        await queue.close();
      });
      for (const body of bodies.filter((_, index) => index !== 10)) {
        scene.load.attempts.push({
          site: firstSite(scene),
          body,
          outcome: 'acknowledged',
          status: 202,
          how: 'queued',
          milliseconds: 0,
        });
      }
      await scene.until(async () => {
        const rows = await scene.stack.sql((sql) => sql<{ record: string }[]>`select record from rejected_records`);
        return rows.length === 1 && JSON.parse(rows[0]?.record ?? '{}').id === poison?.id;
      }, 'the offender is kept whole');
      scene.healed();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'client-clocks',
    about: 'clients a day ahead correct themselves by serverTime; clients a day behind count for their own day',
    quick: true,
    run: async (scene) => {
      await begin(scene);
      const site = firstSite(scene);
      for (let index = 0; index < 50; index += 1) {
        const ahead = await scene.load.send(site, makeBody(Date.now() + day));
        scene.expect(ahead.status === 400, `an id a day ahead is answered ${ahead.status}`);
        await scene.load.send(site, makeBody());
        const behind = await scene.load.send(site, makeBody(Date.now() - day));
        scene.expect(behind.status === 202, `an id a day behind is answered ${behind.status}`);
      }
      scene.healed();
    },
  },
];
