/** Files of published banners, beside the widget's own; what processes keep of them, and of what is published. */
import { readFileSync } from 'node:fs';
import type { Site } from '../../stack/sites.ts';
import { type Figures, quantile } from '../figures.ts';
import { fullLoad, type Measurement } from '../measurement.ts';
import type { Server, Stack } from '../stack.ts';

const name = 'banner: file';
const domains = 10_000;
const publications = 1_000;
/** bytes */
const [small, large, largest] = [2_000, 20_000, 64_000];
const languages = 'bg cs da de el es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv'.split(' ');

/** Texts of their own in 23 languages, as unlike each other as words are, in so many bytes of JSON. */
function settingsOf(bytes: number, serial: number) {
  const random = randomFrom(serial + 1);
  const word = () => Math.floor(random() * 36 ** (3 + Math.floor(random() * 6))).toString(36);
  const settings = { company: `Shop ${serial}`, categories: ['analytics', 'marketing'], texts: {} };
  const own = (bytes - JSON.stringify(settings).length) / languages.length - '"xx":{"intro":""},'.length;
  const words = () => {
    let text = '';
    while (text.length < own) text += `${word()} `;
    return text.slice(0, own - 1).trimEnd();
  };
  return { ...settings, texts: Object.fromEntries(languages.map((tag) => [tag, { intro: words() }])) };
}

/** From 0 to 1, the same in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One more version of each. */
async function publishAll({ db }: Stack, domainIds: string[], bytes: number): Promise<void> {
  for (let from = 0; from < domainIds.length; from += 500) {
    const ids = domainIds.slice(from, from + 500);
    const settings = ids.map((_, index) => JSON.stringify(settingsOf(bytes, from + index)));
    await db.run(
      (sql) => sql`
        insert into banner_versions (domain_number, number, published_by, asks_again, settings)
        select d.number, coalesce((select max(v.number) from banner_versions v where v.domain_number = d.number), 0) + 1,
          'bench', false, given.settings
        from unnest(${ids}::text[], ${settings}::text[]) as given (id, settings) join domains d using (id)`,
    );
  }
}

const pathOf = (domainId: string): string => `/w/${domainId}.js`;

/** MiB of a process that are in memory. */
const memoryOf = ({ pid }: Server): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Milliseconds of each; four at a time. */
async function ask({ baseUrl }: Server, paths: string[]): Promise<number[]> {
  const took: number[] = [];
  const queue = paths.values();
  const lane = async () => {
    for (const path of queue) {
      const since = performance.now();
      const response = await fetch(baseUrl + path);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      took.push(performance.now() - since);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return took;
}

/** What a process takes that has served the files of many domains, and how long the first request for each takes. */
async function keepMany(stack: Stack, domainIds: string[], bytes: number): Promise<Figures> {
  await publishAll(stack, domainIds, bytes);
  const api = await stack.startApi();
  await ask(
    api,
    domainIds.map(() => '/widget.js'),
  );
  const before = memoryOf(api);
  const paths = domainIds.map(pathOf);
  const first = await ask(api, paths);
  const next = await ask(api, paths);
  const grown = memoryOf(api) - before;
  await api.stop();
  const of = `banner: ${domainIds.length} domains of ${bytes / 1_000} kB`;
  return {
    [`${of}: memory`]: { value: grown, unit: 'MiB more' },
    [`${of}: first request`]: { value: quantile(first, 0.5), unit: 'ms' },
    [`${of}: first request, p99`]: { value: quantile(first, 0.99), unit: 'ms' },
    [`${of}: next request`]: { value: quantile(next, 0.5), unit: 'ms' },
  };
}

/** After a tenth of them both processes have what they take for one. */
async function publishAgain(stack: Stack, { organizationId, domainId }: Site, count: number): Promise<Figures> {
  const [api, worker] = await Promise.all([
    stack.startApi({ CHANGE_RATE_PER_MINUTE: '0' }),
    stack.startWorker({ LOG_KEY: 'ab'.repeat(32), LOG_NAME: 'bench.example', SEAL_SECONDS: '1' }),
  ]);
  const banner = `${api.baseUrl}/v1/organization/domains/${domainId}/banner`;
  const headers = {
    authorization: `Bearer ${stack.token(organizationId, 'publish')}`,
    'content-type': 'application/json',
  };
  const change = async (method: string, address: string, body: object, status: number) => {
    const response = await fetch(address, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${method} ${address}: ${response.status} ${text.slice(0, 300)}`);
  };
  const publish = async (serial: number) => {
    await change('PUT', banner, settingsOf(largest, serial), 200);
    await change('POST', `${banner}/publish`, {}, 201);
    await (await fetch(api.baseUrl + pathOf(domainId))).arrayBuffer();
  };
  const early = count / 10;
  for (let serial = 0; serial < early; serial += 1) await publish(serial);
  const before = [memoryOf(api), memoryOf(worker)];
  const since = performance.now();
  for (let serial = early; serial < count; serial += 1) await publish(serial);
  const each = (performance.now() - since) / (count - early);
  const [ofApi = Number.NaN, ofWorker = Number.NaN] = [api, worker].map(
    (server, index) => memoryOf(server) - (before[index] ?? Number.NaN),
  );
  await Promise.all([api.stop(), worker.stop()]);
  const of = `banner: ${largest / 1_000} kB published ${count} times`;
  return {
    [`${of}: API`]: { value: ofApi, unit: 'MiB more' },
    [`${of}: worker`]: { value: ofWorker, unit: 'MiB more' },
    [`${of}: each`]: { value: each, unit: 'ms' },
  };
}

export const banner: Measurement = {
  name: 'banner',
  about: 'files of published banners ÷ the widget alone; memory of 10,000 of them, and of publishing 1,000 times',
  figure: async (stack, { seconds, isQuick }) => {
    const scale = isQuick ? 20 : 1;
    const [site] = stack.sites;
    if (!site) throw new Error('there is no domain');
    const many = await stack.addDomains([site.organizationId], domains / scale);
    const figures: Figures = {};
    for (const bytes of [small, large]) Object.assign(figures, await keepMany(stack, many, bytes));
    Object.assign(figures, await publishAgain(stack, site, publications / scale));
    await publishAll(stack, stack.domainIds, small);
    const api = await stack.startApi();
    const paths = stack.domainIds.map(pathOf);
    await ask(api, paths);
    const round = await fullLoad(name, api, { seconds, send: { paths } });
    return async () => ({ ...(await round()), ...figures });
  },
  reference: async (stack, { seconds }) =>
    fullLoad(name, await stack.startApi(), { seconds, send: { paths: ['/widget.js'] } }),
  targets: { [name]: 'at least 0.7' },
};
