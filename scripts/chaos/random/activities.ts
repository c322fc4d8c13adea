/** Files that are imported again until all of their rows are taken, and exports that go on where they were cut off. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parseEntry } from '#libs/proof/tree/parse-entry';
import { persist } from '#libs/record/persist/persist';
import { createVisitorHash } from '#libs/tenants/visitors';
import { keysWith, tablesWith } from '../../stack/places-with.ts';
import { listen } from '../../stack/ports.ts';
import { addDomains, addKeys, type Site } from '../../stack/sites.ts';
import { untilTrue, waitUntil } from '../../stack/wait.ts';
import { callOnce, callUntilDone, mostTries, patience } from '../calls.ts';
import { type Body, makeBody, need, toErase } from '../load.ts';
import { type Activity, oneOfEach, type Scene } from '../scene.ts';
import { countSealed } from '../sealed-log.ts';

/** of one file */
const rows = 200;
/** milliseconds over which they are spread: also months that nobody else records in */
const span = 100 * 86_400_000;
/** milliseconds before an export goes on that was cut off, and an import is tried again */
const pauseAfterCut = 1_000;

/** Two files side by side share half of their rows, in the opposite order: each is stored once, as it was sent. */
export function importFiles(scene: Scene): Activity {
  const { sites, load } = scene;
  let files = 0;
  const makeRows = (length: number) =>
    Array.from({ length }, () => makeBody(Math.floor(Date.now() - Math.random() * span)));
  const importFile = async (site: Site, bodies: Body[]): Promise<void> => {
    files += 1;
    const note = (status: number) => {
      const attempt = { site, status, how: 'imported', milliseconds: 0, userAgent: null };
      load.attempts.push(...bodies.map((body) => ({ ...attempt, body })));
    };
    note(0);
    const body = bodies.map((each) => `${JSON.stringify(each)}\n`).join('');
    const path = `/v1/consent/${site.domainId}/import`;
    const call = { site, scope: 'import', method: 'POST', path, body, type: 'application/x-ndjson' };
    for (;;) {
      const { steps, wrong } = scene.clocks;
      const answer = String(await callUntilDone(scene, call));
      const { read, queued, known, rejected } = JSON.parse(answer) as Record<string, number>;
      const isWhole = read === rows && Number(queued) + Number(known) === rows && rejected === 0;
      // rows are refused whose time is to come, as the API's clock has it
      const mayBeRight = wrong > 0 || scene.clocks.steps > steps;
      scene.expect(isWhole || mayBeRight, `a file of ${rows} rows is answered ${answer}`);
      if (isWhole || !mayBeRight) break;
      await sleep(pauseAfterCut);
    }
    note(202);
  };
  let turn = 0;
  return {
    pause: 6_000,
    work: async () => {
      const site = need(sites[turn++ % sites.length]);
      const first = makeRows(rows);
      const second = [...first.slice(rows / 2), ...makeRows(rows / 2)].reverse();
      await Promise.all([importFile(site, first), importFile(site, second)]);
    },
    check: () => console.log(`${files} files of ${rows} rows were imported`),
  };
}

interface Line {
  id?: string;
  domainId?: string;
  end?: boolean;
}

export function exportRecords(scene: Scene): Activity {
  const sites = oneOfEach(scene);
  let [exported, cuts] = [0, 0];

  /** Adds what comes; true once the last line is there. */
  const read = async (site: Site, found: string[]): Promise<boolean> => {
    const after = found.length > 0 ? `&after=${found.at(-1)}` : '';
    const response = await callOnce(scene, { site, path: `/v1/organization/export?format=ndjson${after}` });
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      return false;
    }
    const input = Readable.fromWeb(response.body);
    // fetch alone may forget to give up
    const timer = setTimeout(() => input.destroy(new Error('no whole export in time')), patience);
    try {
      for await (const text of createInterface({ input })) {
        // the last one may be half a line
        const line: Line = JSON.parse(text);
        if (line.end) return true;
        found.push(`${line.domainId}/${line.id}`);
      }
      return false;
    } finally {
      clearTimeout(timer);
    }
  };

  const exportOf = async (site: Site): Promise<void> => {
    const before = await listStored(scene, site).catch(() => []);
    const found: string[] = [];
    for (let tries = 1; !(await read(site, found).catch(() => false)); tries += 1) {
      scene.signal.throwIfAborted();
      if (tries === mostTries) throw new Error(`an export was not complete after ${tries} tries`);
      cuts += 1;
      await sleep(pauseAfterCut);
    }
    const places = new Set(found);
    const missing = before.filter((place) => !places.has(place)).length;
    scene.expect(places.size === found.length, `an export has ${found.length - places.size} records twice`);
    scene.expect(missing === 0, `an export lacks ${missing} of ${before.length} records`);
    exported += 1;
  };

  return {
    pause: 3_000,
    work: () => exportOf(need(sites[exported % sites.length])),
    check: async () => {
      for (const site of sites) await exportOf(site);
      console.log(`${exported} exports were complete, which were cut off or refused ${cuts} times`);
    },
  };
}

/** As `after` names them. */
const listStored = async ({ sql }: Scene, { organizationId }: Site): Promise<string[]> => {
  const rows = await sql(
    (connected) => connected<{ place: string }[]>`
      select d.id || '/' || r.id as place from records r join domains d on d.number = domain_number
      where organization_id = ${organizationId}`,
  );
  return rows.map(({ place }) => place);
};

/** One message of so many is refused at first. */
const failsOneOf = 20;
/** Milliseconds: what fails twice, as when a worker is killed on the second try, comes again after five minutes. */
const webhookPatience = 400_000;
/** What fails as often comes again after half an hour or later, which is not waited for. */
const failsOften = 3;
/** Milliseconds: a worker may be frozen between reading a message and sending it. */
const mayBeOnItsWay = 30_000;

const entry = z.object({
  record: z
    .object({ id: z.string(), visitorId: z.string().nullable(), receivedAt: z.string(), position: z.number() })
    .optional(),
});
const message = z.object({
  type: z.string(),
  data: z.object({
    domainId: z.string(),
    log: z.number(),
    first: z.number().optional(),
    size: z.number().optional(),
    entries: z.array(entry).default([]),
    positions: z.array(z.number()).default([]),
  }),
});

export async function receiveWebhooks(scene: Scene, erased: Map<string, number>): Promise<Activity> {
  /** Places as `domain/log/position`: of entries, of those that were erased, and of records, by their ids. */
  const delivered = { entries: new Set<string>(), erasures: new Set<string>(), records: new Map<string, string>() };
  const refused = new Set<string>();
  let messages = 0;

  const take = ({ data: { domainId, log, first = 0, size = 0, entries, positions } }: z.infer<typeof message>) => {
    const place = (position: number) => `${domainId}/${log}/${position}`;
    for (const position of positions) delivered.erasures.add(place(position));
    for (let position = first; position < size; position += 1) delivered.entries.add(place(position));
    for (const { id, visitorId, receivedAt, position } of entries.flatMap(({ record }) => record ?? [])) {
      delivered.records.set(id, place(position));
      if (!visitorId?.startsWith(toErase)) continue;
      const since = performance.now() - (erased.get(visitorId) ?? Number.POSITIVE_INFINITY);
      const what = `${visitorId} of ${receivedAt} at ${place(position)}`;
      scene.expect(since < mayBeOnItsWay, `I10: a webhook has ${what} ${Math.round(since)} ms after the erasure`);
    }
  };

  const server = createServer(async (request, response) => {
    const id = String(request.headers['webhook-id']);
    const body = await json(request).then((read) => message.parse(read));
    messages += 1;
    const isRefused = messages % failsOneOf === 0 && !refused.has(id);
    if (isRefused) refused.add(id);
    else take(body);
    response.writeHead(isRefused ? 500 : 204).end();
  });
  scene.onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${await listen(server)}/`;
  for (const site of oneOfEach(scene)) {
    const body = JSON.stringify({ url, types: ['records.sealed', 'visitor.erased'] });
    const path = '/v1/organization/webhooks';
    await callUntilDone(scene, { site, scope: 'read manage', method: 'POST', path, body });
  }

  /** How many entries, records and erasures of records have not come. */
  const countMissing = async (): Promise<number> => {
    const entries = await countSealed(scene);
    const stored = await scene.sql((sql) => sql<{ id: string }[]>`select id from records`);
    const texts = await scene.sql(
      (sql) => sql<{ text: string }[]>`
        select text from log_texts join logs using (domain_number, log)
        where position < checkpoint_size and notice_number is null`,
    );
    const erasures = texts.map(({ text }) => parseEntry(text)).filter((entry) => entry.type === 'erasure');
    const isDelivered = (id: string) => delivered.erasures.has(delivered.records.get(id) ?? '');
    return (
      Math.max(0, entries - delivered.entries.size) +
      stored.filter(({ id }) => !delivered.records.has(id)).length +
      erasures.filter(({ id }) => !isDelivered(id)).length
    );
  };

  /** Answers how many messages were not waited for. */
  const hurry = async (): Promise<number> => {
    const hurried = await scene.sql(
      (sql) => sql`
        update webhook_lanes set due_at = clock_timestamp(), line = null
        where tries >= ${failsOften} and due_at < 'infinity' and due_at > clock_timestamp()`,
    );
    return hurried.count;
  };

  return {
    check: async () => {
      let [missing, hurried] = [0, 0];
      const isComplete = async () => {
        missing = await countMissing();
        if (missing > 0) hurried += await hurry();
        return missing === 0;
      };
      await waitUntil(isComplete, { deadlineMs: webhookPatience, intervalMs: 1_000 });
      if (missing > 0) console.log('lanes that are not idle:', await listLanes(scene));
      scene.expect(missing === 0, `${missing} entries, records and erasures did not come by webhook`);
      scene.expect(delivered.erasures.size > 0, 'no erasure came by webhook');
      const ofThem = `${refused.size} were refused at first, and ${hurried} had failed ${failsOften} times`;
      console.log(`${messages} messages came, of which ${ofThem}`);
    },
  };
}

const listLanes = ({ sql }: Scene) =>
  sql(
    (connected) => connected`
      select type, domain_number, log, position::float8, through::float8, tries, due_at, claimed_until from webhook_lanes
      where due_at < 'infinity' limit 20`,
  );

/** After one erasure of so many that visitor records again, and so does one who was erased before the run. */
const returnsOneOf = 5;
/** Milliseconds: Redis rewrites its file once a minute at most. */
const erasurePatience = 240_000;

/** `erased` has each visitor once the erasure is answered, and when that was by `performance.now()`. */
export function eraseVisitors(scene: Scene, erased: Map<string, number>): Activity {
  const { sites, load } = scene;
  let count = 0;
  return {
    pause: 1_500,
    work: async () => {
      const site = need(sites[count % sites.length]);
      const visitorId = `${toErase}${count}`;
      await load.deliver(site, { ...makeBody(), visitorId });
      const path = '/v1/organization/visitors/erase';
      const call = { site, scope: 'privacy', method: 'POST', path, body: JSON.stringify({ visitorId }) };
      await untilErased(scene, site, parseErasure(await callUntilDone(scene, call)));
      erased.set(visitorId, performance.now());
      count += 1;
      if (count % returnsOneOf !== 0) return;
      await load.deliver(site, { ...makeBody(), visitorId });
      await load.deliver(scene.site, { ...makeBody(), visitorId: erasedBefore(count) });
    },
    check: async () => {
      let left: string[] = [];
      const isNowhere = async () => {
        left = await placesWith(scene, toErase);
        return left.length === 0;
      };
      await waitUntil(isNowhere, { deadlineMs: erasurePatience, intervalMs: 3_000 });
      const what = `of ${count} erased visitors something is left in ${left.join(', ')}`;
      scene.expect(left.length === 0 && count > 0, `I10: ${what}`);
      console.log(`${count} visitors were erased`);
    },
  };
}

const parseErasure = (body: Buffer): { state: string; erasureId: string } => JSON.parse(String(body));

/** If the stores are away for longer than the request waits, the worker finishes an erasure. */
async function untilErased(scene: Scene, site: Site, { state, erasureId }: { state: string; erasureId: string }) {
  const call = { site, scope: 'privacy', method: 'GET', path: `/v1/organization/erasures/${erasureId}` };
  const isDone = async () => parseErasure(await callUntilDone(scene, call)).state === 'done';
  if (state !== 'done')
    await untilTrue(isDone, `the erasure ${erasureId}`, { deadlineMs: erasurePatience, intervalMs: 1_000 });
}

async function placesWith({ sql, redisDo, redis }: Scene, text: string): Promise<string[]> {
  const tables = await tablesWith({ run: (work) => sql(work) }, text);
  const keys = await redisDo((client) => keysWith(client, text));
  const folder = path.join(redis.running().dataDir, 'appendonlydir');
  const files = readdirSync(folder).filter((name) => readFileSync(path.join(folder, name)).includes(text));
  return [...tables, ...keys, ...files];
}

const domains = 2_000;
const erasures = 20_000;
const records = 20_000;
/** records of one statement */
const batch = 1_000;
/** Milliseconds: a little less than records are kept. */
const historySpan = 900 * 86_400_000;
/** of banners and policies, so that statistics by dimension have many rows */
const versions = 300;

/** One of the visitors of the first organization who were erased. */
const erasedBefore = (index: number): string => `${toErase}before-${index % erasures}`;

/** Domains and erasures of the first organization. `erased` gets those who were, as of now. */
export async function makeHistory(scene: Scene, erased: Map<string, number>): Promise<void> {
  const { database, site, load, privacyKey } = scene;
  const db = database();
  const { organizationId } = site;
  const made = await addKeys(db, organizationId, await addDomains(db, [organizationId], domains));

  load.others.push(...made);

  const visitors = Array.from({ length: erasures }, (_, index) => erasedBefore(index));
  for (const visitor of visitors) erased.set(visitor, performance.now());
  const hashOf = createVisitorHash(privacyKey);
  const hashes = visitors.map((visitor) => hashOf(organizationId, visitor).toString('hex'));
  await db.run(
    (sql) => sql`
      insert into tombstones (hash, organization_number, domain_number, epoch, erased_at, until, searched_at)
      select decode(hash, 'hex'), number, 0, open, erased_at, erased_at + interval '32 days', erased_at
      from epochs
        cross join unnest(${hashes}::text[]) with ordinality as erased (hash, ago)
        cross join lateral (select clock_timestamp() - ago * interval '2 minutes' as erased_at) as time
        join organizations on id = ${organizationId}`,
  );
}

/** Straight into Postgres, as the API does while Redis is away: the webhooks are told of them. */
export async function importYears({ database, load }: Scene): Promise<void> {
  const all = Array.from({ length: records }, (_, index) => ({
    site: need(load.others[index % load.others.length]),
    body: {
      ...makeBody(Math.floor(Date.now() - historySpan * (1 - index / records))),
      bannerVersion: `2.${index % versions}`,
      policyVersion: `of ${(index * 7) % versions}`,
    },
    status: 202,
    how: 'imported',
    milliseconds: 0,
    userAgent: null,
  }));
  load.attempts.push(...all);
  const importedAt = new Date().toISOString();
  for (let from = 0; from < records; from += batch) {
    const rows = all
      .slice(from, from + batch)
      .map(({ body, site: { domainId } }) => ({ ...body, domainId, receivedAt: importedAt, importedAt }));
    await persist(database(), rows, { owe: true });
  }
}
