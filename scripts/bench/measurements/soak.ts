import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWebhookAdministration } from '#libs/store/webhooks/administration';
import { createSecretBox } from '#libs/store/webhooks/secret';
import { waitUntil } from '../../stack/wait.ts';
import { atMost, type Figures, type Target } from '../figures.ts';
import type { Measurement, Scale } from '../measurement.ts';
import { persistAlone } from '../programs.ts';
import { startReceiver } from '../receiver.ts';
import { makeSealSettings } from '../sealed.ts';
import { growth, type Sample } from '../slope.ts';
import { performFaults } from '../soak/faults.ts';
import { held, look } from '../soak/look.ts';
import { exportAll, readSome, sendUntil } from '../soak/traffic.ts';
import type { Stack } from '../stack.ts';
import { sustained } from './sustain.ts';

/** seconds between two looks, and between two exports */
const lookEvery = 10;
const exportEvery = 15;
/** At least so many records are exported again and again: nothing more is recorded in their domain. */
const exported = 20_000;
/** Of the time, at the beginning: what is held grows until everything has been used once. */
const warmUp = 0.25;
/** Percent an hour. A shorter run says little: its noise is multiplied. */
const flat = 10;

/**
 * Half of what the machine sustains, for long, with reads, exports, sealing, webhooks and a fault now and then. The API
 * and one of the two workers live from the beginning to the end, so that what they leak adds up.
 */
export const soak: Measurement = {
  name: 'soak',
  about: 'memory, connections, file handles and disk over --minutes at half load, with a fault now and then',
  isLong: true,
  figure: async (stack, scale) => {
    const most = await (await sustained('soak', stack, Math.max(6, scale.seconds), makeSealSettings()))();
    await stack.reset();
    let once: Figures | undefined;
    return async () => {
      once ??= await soaked(stack, scale, (most.soak?.value ?? 0) / 2);
      return once;
    };
  },
  targets: {
    'soak: failed': atMost(0),
    'soak: lost': atMost(0),
    'soak: doubled': atMost(0),
    ...Object.fromEntries(Object.keys(held).map((name): [string, Target] => [`soak: ${name}, slope`, atMost(flat)])),
  },
};

async function soaked(stack: Stack, { minutes }: Scale, rate: number): Promise<Figures> {
  const key = randomBytes(32);
  const settings = { ...makeSealSettings(), SECRETS_KEY: key.toString('hex'), WEBHOOK_ALLOW_PRIVATE: 'true' };
  const receiver = stack.keep(await startReceiver());
  const [quiet] = await stack.makeSites(1);
  const told = stack.sites.at(-1);
  if (!quiet || !told) throw new Error('there is no domain');
  await persistAlone(stack, { records: exported, domainIds: [quiet.domainId] });
  const [first, api, worker] = [
    await stack.stored(),
    await stack.startApi(settings),
    await stack.startWorker(settings),
  ];
  await createWebhookAdministration(stack.db, 'bench').create(
    told.organizationId,
    { url: `${receiver.url}/well`, types: ['records.sealed'], domains: [told.domainId], decisions: null },
    createSecretBox(key),
  );

  const until = performance.now() + minutes * 60_000;
  const repeat = async (seconds: number, work: () => Promise<unknown>) => {
    while (performance.now() < until) {
      await work();
      await sleep(Math.min(seconds * 1_000, Math.max(0, until - performance.now())));
    }
  };
  const samples: Sample[] = [];
  const beside = { failedReads: 0, exports: 0, cutExports: 0 };
  const [sent] = await Promise.all([
    sendUntil(until, stack, api, rate),
    repeat(0, async () => {
      beside.failedReads += await readSome(until, stack, api);
    }),
    repeat(exportEvery, async () => {
      beside.exports += 1;
      if (!(await exportAll(stack, api, quiet, first))) beside.cutExports += 1;
    }),
    repeat(lookEvery, async () => {
      // the fault that drops all connections drops this one too
      const sample = await look(stack, { API: api, worker }).catch(() => undefined);
      if (sample) samples.push(sample);
    }),
    performFaults(until, minutes, stack, () => stack.startWorker(settings)),
  ]);
  await stack.untilQuiet();

  const stored = (await stack.stored()) - first;
  const { domainId } = told;
  const storedOf = async () => {
    const [row] = await stack.db.run(
      (sql) => sql<{ n: number }[]>`
        select count(*)::int as n from records where domain_number = (select number from domains where id = ${domainId})`,
    );
    return row?.n;
  };
  const entries = await storedOf();
  const isDelivered = () => receiver.reached('/well', domainId) === entries;
  if (!(await waitUntil(isDelivered, { deadlineMs: 120_000 }))) throw new Error('not all was delivered');
  if (receiver.gaps.length > 0) throw new Error(receiver.gaps[0]);
  const began = samples[0]?.at ?? 0;
  const later = samples.filter(({ at }) => at >= began + minutes * 60_000 * warmUp);
  return {
    soak: { value: sent.answered / minutes / 60, unit: 'records/s' },
    'soak: failed': { value: sent.failed, unit: 'requests' },
    'soak: lost': { value: Math.max(0, sent.answered - stored), unit: 'records' },
    'soak: doubled': { value: Math.max(0, stored - sent.answered - sent.failed), unit: 'records' },
    'soak: stored': { value: stored, unit: 'records' },
    'soak: p50': { value: sent.p50, unit: 'ms' },
    'soak: p99': { value: sent.p99, unit: 'ms' },
    'soak: slowest': { value: sent.slowest, unit: 'ms' },
    'soak: failed reads': { value: beside.failedReads, unit: 'requests' },
    'soak: exports': { value: beside.exports, unit: '' },
    'soak: exports that were cut off': { value: beside.cutExports, unit: '' },
    'soak: delivered': { value: receiver.counts.entries, unit: 'entries' },
    'soak: delivered again': { value: receiver.repeats.length, unit: 'messages' },
    ...growth('soak', later, held),
  };
}
