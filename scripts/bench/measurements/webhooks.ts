import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { persist } from '#libs/store/records/persist';
import { createWebhookAdministration } from '#libs/store/webhooks/administration';
import { createSecretBox } from '#libs/store/webhooks/secret';
import type { Site } from '../../stack/client.ts';
import { waitUntil } from '../../stack/wait.ts';
import { cpuTime } from '../cpu-time.ts';
import { atLeast, atMost, type Figures } from '../figures.ts';
import { addDomains } from '../many-domains.ts';
import { get, type Measurement } from '../measurement.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { makeRecord } from '../requests.ts';
import { makeSealSettings, untilSealed } from '../sealed.ts';
import type { Server, Stack } from '../stack.ts';

const made = z.object({ webhookId: z.string() });
const feed = z.object({ next: z.number(), entries: z.array(z.unknown()) });

/** One domain's log to one receiver beside the feed of the same entries; and many webhooks of which half fail. */
export const webhooks: Measurement = {
  name: 'webhooks',
  about: 'entries/s to one receiver ÷ the feed; what 5,000 webhooks take of a core while half of them fail',
  figure: async (stack, { records, seconds }) => {
    const key = randomBytes(32);
    const settings = { SECRETS_KEY: key.toString('hex'), WEBHOOK_ALLOW_PRIVATE: 'true' };
    const sealing = makeSealSettings();
    const receiver = stack.keep(await startReceiver());
    const [api, first] = await Promise.all([
      stack.startApi(settings),
      stack.startWorker({ ...sealing, ...settings }),
      stack.db.run((sql) => sql`truncate webhooks cascade`),
    ]);
    const [site] = await stack.makeSites(1);
    if (!site) throw new Error('there is no domain');
    const entries = records / 10;
    await store(stack, entries, () => site.domainId);
    await untilSealed(stack, site.domainId);
    const webhookId = await makeWebhook(stack, api, site, `${receiver.url}/well`);
    const begin = { first, worker: { ...sealing, ...settings } };
    let many: Figures | undefined;
    return async () => {
      const fed = await readFeed(stack, api, site);
      const sent = await sendAll(stack, api, site, webhookId, receiver, entries);
      if (fed.entries !== entries) throw new Error(`the feed has ${fed.entries} entries of ${entries}`);
      // once: it takes minutes
      many ??= await measureMany(stack, receiver, { key, count: records / 40, seconds: seconds * 10, ...begin });
      return {
        webhooks: { value: sent, unit: 'entries/s' },
        'webhooks: the feed': { value: fed.rate, unit: 'entries/s' },
        'webhooks ÷ the feed': { value: sent / fed.rate, unit: '' },
        ...many,
      };
    };
  },
  targets: {
    webhooks: atLeast(1_000),
    'webhooks: many, at rest': atMost(10),
    'webhooks: many, with entries': atMost(10),
  },
};

async function store({ db }: Stack, count: number, domainOf: (index: number) => string): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from);
    const batch = Array.from({ length: size }, (_, each) =>
      makeRecord([domainOf(from + each)], from + each, Date.now()),
    );
    await persist(db, batch);
  }
}

async function makeWebhook(
  { token }: Stack,
  { baseUrl }: Server,
  { organizationId, domainId }: Site,
  url: string,
): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/organization/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token(organizationId, 'manage read')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, types: ['records.sealed'], domains: [domainId] }),
  });
  if (response.status !== 201) throw new Error(`webhooks answered ${response.status}: ${await response.text()}`);
  return made.parse(await response.json()).webhookId;
}

/** Entries a second, one page after the other. */
async function readFeed({ token }: Stack, api: Server, { organizationId, domainId }: Site) {
  const began = performance.now();
  let entries = 0;
  for (let from = 0, isOver = false; !isOver; ) {
    const page = await get(api, `/v1/consent/${domainId}/feed?from=${from}`, token(organizationId));
    const read = feed.parse(await page.json());
    entries += read.entries.length;
    from = read.next;
    isOver = read.entries.length === 0;
  }
  return { entries, rate: (entries / (performance.now() - began)) * 1_000 };
}

/** Entries a second, from the request to send all again. */
async function sendAll(
  { token }: Stack,
  { baseUrl }: Server,
  { organizationId, domainId }: Site,
  webhookId: string,
  receiver: Receiver,
  entries: number,
): Promise<number> {
  receiver.forget();
  const began = performance.now();
  const response = await fetch(`${baseUrl}/v1/organization/webhooks/${webhookId}/replay`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token(organizationId, 'manage read')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domainId, from: 0 }),
  });
  if (!response.ok) throw new Error(`replay answered ${response.status}: ${await response.text()}`);
  const isSent = () => receiver.counts.entries >= entries;
  if (!(await waitUntil(isSent, { deadlineMs: 300_000, intervalMs: 5 }))) throw new Error('not all was delivered');
  const seconds = (performance.now() - began) / 1_000;
  const [disorder] = [...receiver.gaps, ...receiver.repeats];
  if (disorder !== undefined) throw new Error(disorder);
  if (receiver.counts.entries !== entries) throw new Error(`${receiver.counts.entries} entries instead of ${entries}`);
  return entries / seconds;
}

interface Many {
  /** of SECRETS_KEY */
  key: Buffer;
  /** webhooks, each of a domain of its own */
  count: number;
  seconds: number;
  first: Server;
  /** its settings */
  worker: Record<string, string>;
}

/**
 * What webhooks add to the CPU time of worker and Postgres: minutes of a worker with and without SECRETS_KEY. Those that
 * fail have failed twice, and are tried again within five minutes.
 */
async function measureMany(stack: Stack, receiver: Receiver, many: Many): Promise<Figures> {
  const { key, count, seconds, worker, first } = many;
  const { db } = stack;
  const domainIds = await addDomains(
    stack,
    stack.sites.map(({ organizationId }) => organizationId),
    count,
  );
  const owners = await db.run(
    (sql) => sql<{ id: string; organization: string }[]>`
      select id, organization_id as organization from domains where id = any(${domainIds})`,
  );
  const administration = createWebhookAdministration(db, 'bench');
  const box = createSecretBox(key);
  for (const [index, { id, organization }] of owners.entries()) {
    const url = `${receiver.url}/${index % 2 === 0 ? 'well' : 'fail'}/${index}`;
    await administration.create(organization, { url, types: ['records.sealed'], domains: [id], decisions: null }, box);
  }
  receiver.forget();
  await store(stack, count, (index) => domainIds[index] ?? '');
  const failing = Math.floor(count / 2);
  const isDelivered = () => receiver.counts.messages >= count - failing && receiver.counts.refused >= 2 * failing;
  if (!(await waitUntil(isDelivered, { deadlineMs: 300_000 }))) throw new Error('not all were tried');
  await first.stop();
  await db.run(
    (sql) => sql`
    update webhook_lanes set due_at = clock_timestamp() + random() * interval '5 min' where tries > 0`,
  );
  await db.run((sql) => sql`vacuum (analyze) webhooks, webhook_lanes, webhook_deliveries, logs, log_runs`);

  const { SECRETS_KEY: _, ...without } = worker;
  const spend = async (settings: Record<string, string>, hasEntries: boolean): Promise<number> => {
    const { pid, stop } = await stack.startWorker(settings);
    await sleep(2_000);
    const used = () => cpuTime(pid) + cpuTime(stack.pids.Postgres);
    const [before, began] = [used(), performance.now()];
    const end = began + seconds * 1_000;
    for (let at = 0; performance.now() < end; ) {
      const due = hasEntries ? Math.floor((count * (performance.now() - began)) / (seconds * 1_000)) : 0;
      const some = domainIds.slice(at, due);
      at += some.length;
      await store(stack, some.length, (index) => some[index] ?? '');
      await sleep(500);
    }
    const share = (used() - before) / (performance.now() - began) / 10;
    await stop();
    return share;
  };
  const figures: Figures = { 'webhooks: many': { value: count, unit: '' } };
  for (const [name, hasEntries] of [
    ['at rest', false],
    ['with entries', true],
  ] as const) {
    const bare = await spend(without, hasEntries);
    receiver.forget();
    const share = await spend(worker, hasEntries);
    const { messages, refused } = receiver.counts;
    figures[`webhooks: many, ${name}`] = { value: share - bare, unit: '% of a core' };
    figures[`webhooks: many, ${name}: without webhooks`] = { value: bare, unit: '% of a core' };
    figures[`webhooks: many, ${name}: delivered`] = { value: messages, unit: 'messages' };
    figures[`webhooks: many, ${name}: refused`] = { value: refused, unit: 'messages' };
  }
  // for the rounds that follow
  await stack.startWorker(worker);
  return figures;
}
