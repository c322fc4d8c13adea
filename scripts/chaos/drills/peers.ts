/**
 * Peers that speak valid HTTP in the costliest way, on both sides: who calls the service, and whom it calls. Each is beside
 * a control that sends or asks for as much in the usual way, and a bystander of another organization hardly notices.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { listen } from '../../stack/ports.ts';
import { makeSites, type Site, signToken } from '../../stack/sites.ts';
import { waitUntil } from '../../stack/wait.ts';
import { bodyOf, callOnce, callUntilDone } from '../calls.ts';
import type { Drill } from '../drill.ts';
import type { End } from '../faults.ts';
import { isAcknowledged, makeBody, need, toErase } from '../load.ts';
import { callersOf, mostSlower, quantile, receivers, startPeer } from '../peers.ts';
import { hold, type Scene } from '../scene.ts';
import { untilSealed } from '../sealed-log.ts';
import { webhookSettings } from '../stack.ts';

/** Milliseconds below which a control counts as so much: two shared cores are no laboratory. */
const floors = { record: 100, stored: 300, webhook: 2_000 };
type Figures = typeof floors;

/** seconds of a measurement, and milliseconds between two records of the bystander */
const measuredFor = 8;
const pause = 50;
/** milliseconds until what was acknowledged has to be stored and sent */
const patience = 90_000;

/** Begins to send or to ask; `plain`: the control. */
type Begin = (plain: boolean) => Promise<End>;

interface Bystander {
  site: Site;
  /** record id → when its webhook came */
  delivered: Map<string, number>;
}

const message = z.object({ data: z.object({ entries: z.array(z.object({ record: z.object({ id: z.string() }) })) }) });

async function makeWebhook(scene: Scene, site: Site, port: number): Promise<End> {
  const webhooks = { site, scope: 'manage read', path: '/v1/organization/webhooks' };
  const body = JSON.stringify({ url: `http://127.0.0.1:${port}/`, types: ['records.sealed'] });
  const made = JSON.parse(String(await callUntilDone(scene, { ...webhooks, method: 'POST', body })));
  return () => callOnce(scene, { ...webhooks, path: `${webhooks.path}/${made.webhookId}`, method: 'DELETE' });
}

async function listenForWebhooks(scene: Scene, site: Site): Promise<Bystander> {
  const told = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const { entries } = message.parse(await json(request)).data;
    for (const { record } of entries) told.set(record.id, performance.now());
    response.writeHead(204).end();
  });
  scene.onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  await makeWebhook(scene, site, await listen(server));
  return { site, delivered: told };
}

/** How long the bystander's records take until they are acknowledged, stored, and sent to its webhook. */
async function measure(scene: Scene, { site, delivered }: Bystander): Promise<Figures> {
  const sent = new Map<string, number>();
  const stored = new Map<string, number>();
  const took: number[] = [];
  const under: Promise<void>[] = [];
  const send = async () => {
    const body = makeBody();
    const at = performance.now();
    const attempt = await scene.load.send(site, body);
    // without those in which this process, which reads the feed, stood still
    took.push(attempt.milliseconds);
    if (isAcknowledged(attempt)) sent.set(body.id, at);
  };
  const look = async () => {
    const wanted = [...sent.keys()].filter((id) => !stored.has(id));
    if (wanted.length === 0) return;
    const rows = await scene.sql((sql) => sql<{ id: string }[]>`select id from records where id = any(${wanted})`);
    for (const { id } of rows) stored.set(id, performance.now());
  };
  const end = performance.now() + measuredFor * 1_000;
  while (performance.now() < end) {
    under.push(send());
    await Promise.all([look(), hold(pause / 1_000)]);
  }
  await Promise.all(under);
  const isComplete = async () => {
    await look();
    return [...sent.keys()].every((id) => stored.has(id) && delivered.has(id));
  };
  await waitUntil(isComplete, { deadlineMs: patience, intervalMs: pause });
  const since = (times: Map<string, number>) =>
    [...sent].map(([id, at]) => (times.get(id) ?? Number.POSITIVE_INFINITY) - at);
  return {
    record: quantile(took, 0.99),
    stored: quantile(since(stored), 0.95),
    webhook: quantile(since(delivered), 0.95),
  };
}

async function compare(scene: Scene, bystander: Bystander, name: string, begin: Begin): Promise<void> {
  const figures: Figures[] = [];
  for (const plain of [true, false]) {
    const end = await begin(plain);
    await hold(1);
    figures.push(await measure(scene, bystander));
    await end();
    // what was begun ends by itself
    await hold(1);
  }
  const [control, found] = [need(figures[0]), need(figures[1])];
  const compared = (['record', 'stored', 'webhook'] as const).map((what) => {
    const holds = found[what] <= mostSlower * Math.max(control[what], floors[what]);
    const text = `${what} ${control[what].toFixed(0)} → ${found[what].toFixed(0)} ms`;
    scene.expect(holds, `${name}: ${text}`);
    return text;
  });
  console.log(`  ${name.padEnd(30)}${compared.join(', ')}`);
}

const receiver =
  (scene: Scene, kind: string): Begin =>
  async (plain) => {
    const { port, end } = await startPeer({ kind, plain });
    const remove = await makeWebhook(scene, scene.site, port);
    return async () => {
      await remove();
      await end();
    };
  };

const caller =
  (scene: Scene, settings: ReturnType<typeof callersOf>[number]): Begin =>
  async (plain) =>
    (await startPeer({ ...settings, plain, port: Number(new URL(scene.anyApi().baseUrl).port) })).end;

/** Again and again, so many at once. */
const asking =
  (scene: Scene, lanes: number, ask: (plain: boolean) => Promise<unknown>): Begin =>
  async (plain) => {
    let isOver = false;
    const loop = async () => {
      while (!isOver && !scene.signal.aborted) await ask(plain).catch(() => hold(0.1));
    };
    const loops = Array.from({ length: lanes }, loop);
    return () => {
      isOver = true;
      return Promise.all(loops);
    };
  };

/** entries of a page of the feed, each of some 8 kB */
const large = 1_000;
const wide = { pageUrl: `https://shop.example/${'x'.repeat(2_000)}`, preferences: manyPreferences() };
function manyPreferences(): Record<string, boolean> {
  return Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${n}`.padStart(64, 'x'), true]));
}

async function recordMany(scene: Scene, site: Site, count: number, more: object): Promise<void> {
  const lanes = Array.from({ length: 50 }, async (_, lane) => {
    for (let n = lane; n < count; n += 50) await scene.load.deliver(site, { ...makeBody(), ...more });
  });
  await Promise.all(lanes);
}

/** Entries that are sealed of a domain. */
async function sealed(scene: Scene, { domainId }: Site): Promise<number> {
  return scene.count(
    (sql) => sql`
      select coalesce(sum(checkpoint_size), 0)::int as n from logs join domains on number = domain_number
      where id = ${domainId}`,
  );
}

const manyRecords = 3_500;

/** Three organizations erase visitors with many records, four at a time; the control's visitors have none. */
async function erasing(scene: Scene): Promise<{ begin: Begin; answered: Map<number, number> }> {
  const answered = new Map<number, number>();
  const cli = (...args: string[]) => scene.assent(...args);
  const sites = (await Promise.all([1, 2, 3].map(() => makeSites(cli, 1)))).flat();
  const visitors = [1, 2, 3, 4].map((n) => `${toErase}many-${n}`);
  for (const site of sites) for (const visitorId of visitors) await recordMany(scene, site, manyRecords, { visitorId });
  let turn = 0;
  const path = '/v1/organization/visitors/erase';
  const begin = asking(scene, 12, async (plain) => {
    turn += 1;
    const visitorId = plain ? `${toErase}nobody-${turn}` : need(visitors[Math.floor(turn / 3) % visitors.length]);
    const site = need(sites[turn % sites.length]);
    const response = await callOnce(scene, {
      site,
      scope: 'privacy',
      method: 'POST',
      path,
      body: JSON.stringify({ visitorId }),
    });
    await bodyOf(response);
    answered.set(response.status, (answered.get(response.status) ?? 0) + 1);
    // as many a second in both
    await hold(1);
  });
  return { begin, answered };
}

async function bearPeers(scene: Scene): Promise<void> {
  const secrets = webhookSettings();
  await scene.begin({ api: secrets, worker: secrets });
  const bystander = await listenForWebhooks(
    scene,
    need(scene.sites.find(({ organizationId }) => organizationId !== scene.site.organizationId)),
  );
  const token = signToken(scene.site.organizationId, scene.jwtSecret, 'import');

  const [feedSite] = await makeSites((...args) => scene.assent(...args), 1);
  const ofFeed = need(feedSite);
  await recordMany(scene, ofFeed, large, wide);
  await untilSealed(scene);
  await scene.until(async () => (await sealed(scene, ofFeed)) >= large, 'the large records are sealed');
  const feed = `/v1/consent/${ofFeed.domainId}/feed`;
  const erasures = await erasing(scene);

  const peers: [string, Begin][] = [
    ...receivers.map((kind): [string, Begin] => [`a receiver: ${kind}`, receiver(scene, kind)]),
    ...callersOf(scene.site, token).map((each): [string, Begin] => [each.name, caller(scene, each)]),
    [
      'readers of a large feed',
      asking(scene, 12, async (plain) =>
        bodyOf(await callOnce(scene, { site: ofFeed, path: plain ? `${feed}?limit=1` : feed })),
      ),
    ],
    ['erasures of many records', erasures.begin],
  ];
  for (const [name, begin] of peers) await compare(scene, bystander, name, begin);
  const refused = [...erasures.answered].filter(([status]) => status !== 200 && status !== 202);
  scene.expect(refused.length === 0, `erasures are answered ${JSON.stringify(refused)}`);
}

export const peerDrills: Drill[] = [
  {
    name: 'peers',
    about: 'callers and receivers that speak valid HTTP in the costliest way hardly slow another organization',
    alone: true,
    run: bearPeers,
  },
];
