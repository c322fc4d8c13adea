import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { persist } from '#libs/store/records/persist';
import { waitUntil } from '../../stack/wait.ts';
import { atMost, type Figures, median, quantile } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { residentMemory } from '../memory.ts';
import { load, startLoad } from '../programs.ts';
import { makeRecord } from '../requests.ts';
import { makeSealSettings, untilSealed } from '../sealed.ts';
import type { Server, Stack } from '../stack.ts';

const few = 10;
const smallErasures = 50;
/** so that a worker goes on with it */
const atLeastLarge = 12_000;
/** records a second, beside which the large erasure runs */
const rate = 200;
const day = 86_400_000;
const erasure = z.object({ erasureId: z.string(), state: z.string(), records: z.number() });

/** With sealing, which an erasure and what it leaves have to do with. */
export const erase: Measurement = {
  name: 'erase',
  about: 'erasing a visitor of 10 records and one of 100,000, and recording meanwhile; access to all of these',
  figure: async (stack, { records, seconds }) => {
    const large = Math.max(records / 2, atLeastLarge);
    const [api] = await Promise.all([stack.startApi(), stack.startWorker(makeSealSettings())]);
    const send = { baseUrl: api.baseUrl, send: { sites: stack.sites.slice(0, 4) }, rate, warmUp: 1 };
    let round = 0;
    return async () => {
      round += 1;
      const visitors = Array.from({ length: smallErasures }, (_, each) => `small-${round}-${each}`);
      for (const visitor of visitors) await store(stack, visitor, few);
      await store(stack, `large-${round}`, large);
      await untilSealed(stack, domainOf(stack));

      const small: number[] = [];
      for (const visitor of visitors) {
        const began = performance.now();
        if ((await askToErase(stack, api, visitor)).state !== 'done') throw new Error('a small erasure is not done');
        small.push(performance.now() - began);
      }
      const access = await readAll(stack, api, `large-${round}`);
      const alone = await load({ ...send, seconds });
      const beside = startLoad(send);
      const began = performance.now();
      const begun = await askToErase(stack, api, `large-${round}`);
      const isDone = async () => (await ask(stack, api, 'GET', `erasures/${begun.erasureId}`)).records === large;
      if (!(await waitUntil(isDone, { deadlineMs: 300_000 }))) throw new Error('the large erasure does not end');
      const took = (performance.now() - began) / 1_000;
      const { p99 } = await beside.end();
      const figures: Figures = {
        [`erase: ${few} records, p50`]: { value: median(small), unit: 'ms' },
        [`erase: ${few} records, p99`]: { value: quantile(small, 0.99), unit: 'ms' },
        'erase: large': { value: took, unit: 's' },
        'erase: large, its records': { value: large, unit: '' },
        'erase: recording meanwhile, p99': { value: p99, unit: 'ms' },
        'erase: recording without, p99': { value: alone.p99, unit: 'ms' },
        'erase: access': { value: access.seconds, unit: 's' },
        'erase: access, first byte': { value: access.firstByte, unit: 's' },
        'erase: access, answer': { value: access.bytes / 1e6, unit: 'MB' },
        'erase: access, memory of the API': { value: access.grown() / 1e6, unit: 'MB' },
      };
      return figures;
    };
  },
  targets: {
    [`erase: ${few} records, p50`]: atMost(100),
    'erase: large': atMost(60),
    'erase: access, first byte': atMost(5),
    'erase: access, memory of the API': atMost(150),
  },
};

const organizationOf = ({ sites }: Stack): string => sites[0]?.organizationId ?? '';
const domainOf = ({ sites }: Stack): string => sites[0]?.domainId ?? '';

/** On one domain, over the last three weeks. */
async function store(stack: Stack, visitorId: string, count: number): Promise<void> {
  const domainIds = [domainOf(stack)];
  for (let from = 0; from < count; from += 2_000) {
    const records = Array.from({ length: Math.min(2_000, count - from) }, (_, each) => ({
      ...makeRecord(domainIds, from + each, Date.now() - (20 * day * (from + each)) / count),
      visitorId,
    }));
    await persist(stack.db, records);
  }
}

const headersOf = (stack: Stack) => ({
  authorization: `Bearer ${stack.token(organizationOf(stack), 'privacy')}`,
  'content-type': 'application/json',
});

async function ask(stack: Stack, { baseUrl }: Server, method: string, path: string, body?: object) {
  const response = await fetch(`${baseUrl}/v1/organization/${path}`, {
    method,
    headers: headersOf(stack),
    body: body ? JSON.stringify(body) : null,
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return erasure.parse(await response.json());
}

const askToErase = (stack: Stack, api: Server, visitorId: string) =>
  ask(stack, api, 'POST', 'visitors/erase', { visitorId });

/** Reads the whole answer without keeping it. */
async function readAll(stack: Stack, { baseUrl, pid }: Server, visitorId: string) {
  const before = residentMemory(pid);
  let most = before;
  const watching = new AbortController();
  const watch = (async () => {
    while (!watching.signal.aborted) {
      most = Math.max(most, residentMemory(pid));
      await sleep(20);
    }
  })();
  try {
    const began = performance.now();
    const response = await fetch(`${baseUrl}/v1/organization/visitors/lookup`, {
      method: 'POST',
      headers: headersOf(stack),
      body: JSON.stringify({ visitorId }),
    });
    if (!response.ok || !response.body) throw new Error(`lookup answered ${response.status}`);
    const firstByte = (performance.now() - began) / 1_000;
    let bytes = 0;
    for await (const chunk of response.body) bytes += chunk.length;
    const seconds = (performance.now() - began) / 1_000;
    return { bytes, seconds, firstByte, grown: () => most - before };
  } finally {
    watching.abort();
    await watch;
  }
}
