/** What clients send: the same id many times, poison, and times of a wrong clock. */
import { Queue } from 'bullmq';
import { packJob } from '#libs/contract/job';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { type Drill, drill } from '../drill.ts';
import { countStored, yesterday } from '../faults.ts';
import { type Body, makeBody } from '../load.ts';

const makeBodies = (count: number): Body[] => Array.from({ length: count }, () => makeBody());

export const recordDrills: Drill[] = [
  drill('same-id', '30 ids, each posted 20 times at once, and again after its job is gone', async (scene) => {
    const { load } = scene;
    await scene.begin();
    const { site } = scene;
    const bodies = makeBodies(30);
    const ids = bodies.map(({ id }) => id);
    for (const body of bodies) await Promise.all(Array.from({ length: 20 }, () => load.send(site, body)));
    await scene.until(async () => (await countStored(scene, ids)) === bodies.length, 'all of them are stored');
    for (const body of bodies) await load.send(site, { ...body, decision: 'withdraw' });
  }),
  drill('direct-races-worker', 'an API writes to Postgres what a worker holds from another', async (scene) => {
    const { load } = scene;
    const { api } = await scene.begin();
    const proxy = await scene.proxy('redis');
    proxy.set('refuse');
    const cutOff = await scene.start('api', proxy.env);
    for (let round = 0; round < 20; round += 1) {
      const pairs = makeBodies(25).flatMap((body, index) => {
        const site = scene.sites[index % scene.sites.length] ?? scene.site;
        return [load.send(site, body, api.baseUrl), load.send(site, { ...body, decision: 'custom' }, cutOff.baseUrl)];
      });
      await Promise.all(pairs);
    }
    const direct = load.attempts.filter(({ how }) => how === 'persisted').length;
    scene.expect(direct >= 400, `only ${direct} records went straight to Postgres`);
  }),
  drill('poison', 'a record that Postgres refuses: the rest of its batch is stored, it is kept', async (scene) => {
    const { load } = scene;
    scene.allowed.rejected = 1;
    await scene.begin();
    const { site } = scene;
    const bodies = makeBodies(19);
    const receivedAt = new Date().toISOString();
    const records = bodies.map((body) => ({ ...body, domainId: site.domainId, receivedAt }));
    const refused = { ...makeBody(), domainId: site.domainId, receivedAt, visitorId: 'nul \0 in the middle' };
    await scene.redisDo(async (redis) => {
      const queue = new Queue(recordQueue(0), { connection: redis, prefix: queuePrefix });
      await queue.add('record', packJob(records.toSpliced(10, 0, refused)));
      await queue.close();
    });
    const answer = { outcome: 'acknowledged', status: 202, how: 'queued', milliseconds: 0 } as const;
    for (const body of bodies) load.attempts.push({ site, body, ...answer });
    await scene.until(async () => {
      const rows = await scene.sql((sql) => sql<{ record: string }[]>`select record from rejected_records`);
      return rows.length === 1 && JSON.parse(rows[0]?.record ?? '{}').id === refused.id;
    }, 'the rejected record is kept whole');
  }),
  drill('client-clocks', 'clients a day ahead are told so; a day behind counts for its day', async (scene) => {
    const { load } = scene;
    await scene.begin();
    const { site } = scene;
    for (let index = 0; index < 50; index += 1) {
      const ahead = await load.send(site, makeBody(2 * Date.now() - yesterday()));
      scene.expect(ahead.status === 400, `an id a day ahead is answered ${ahead.status}`);
      await load.send(site, makeBody());
      const behind = await load.send(site, makeBody(yesterday()));
      scene.expect(behind.status === 202, `an id a day behind is answered ${behind.status}`);
    }
  }),
];
