import type { Figures } from '../figures.ts';
import type { Measurement, Scale } from '../measurement.ts';
import { makeSealSettings } from '../sealed.ts';
import type { Stack } from '../stack.ts';
import { countersMemory } from './counters-memory.ts';
import { disk } from './disk.ts';
import { drain } from './drain.ts';
import { jobs } from './jobs.ts';
import { oneOrganization } from './one-organization.ts';
import { seal } from './seal.ts';
import { sustained } from './sustain.ts';

const parts = ['API', 'worker', 'Postgres', 'Redis'] as const;
const rates = [1_000, 10_000, 100_000];
/** Of a core that is counted on: the rest is for peaks, reads, exports, and a process that is away. */
const share = 0.5;
/** seconds that the queue has to hold while Postgres is away, and the share of `maxmemory` that is for it */
const outage = 3_600;
const usable = 0.8;
/** seconds: sealing comes once a second */
const shortest = 6;
const year = 365 * 24 * 3_600;

/** One table: what a record takes, and what follows for an installation. */
export const capacity: Measurement = {
  name: 'capacity',
  about:
    'what a record takes of each part, one organization with 1, 2 and 4 workers, `jobs`, and what 1,000 to 100,000 records/s need',
  figure: async (stack, scale) => {
    const measure = async (measures: ((stack: Stack, scale: Scale) => Promise<Figures>)[]): Promise<Figures> => {
      const figures: Figures = {};
      for (const each of measures) {
        await stack.reset();
        Object.assign(figures, await each(stack, scale));
      }
      return figures;
    };
    // bytes hardly differ between rounds
    const bytes = await measure([waiting, stored, sealed, countersMemory]);
    return async () => {
      const figures = { ...bytes, ...(await measure([perRecord, oneOrganization, jobSizes])) };
      return { ...figures, ...needs(figures) };
    };
  },
  targets: {},
};

const figureOf = (figures: Figures, name: string): number => figures[name]?.value ?? Number.NaN;

/** CPU time, end to end: sealed each second, with its statistics. */
async function perRecord(stack: Stack, { seconds }: Scale): Promise<Figures> {
  const round = await sustained('capacity', stack, Math.max(seconds, shortest), makeSealSettings());
  const figures = await round();
  const cores = parts.map((part) => [
    `capacity: ${part}, a core`,
    { value: 1e6 / figureOf(figures, `capacity: ${part}`), unit: 'records/s' },
  ]);
  return { ...figures, ...Object.fromEntries(cores) };
}

async function waiting(stack: Stack, scale: Scale): Promise<Figures> {
  const figures = await (await drain.figure(stack, { ...scale, records: scale.records / 4 }))();
  const value = figureOf(figures, 'drain: queued record');
  return { 'capacity: waiting record': { value, unit: 'bytes of Redis' } };
}

async function jobSizes(stack: Stack, scale: Scale): Promise<Figures> {
  return (await jobs.figure(stack, scale))();
}

async function stored(stack: Stack, scale: Scale): Promise<Figures> {
  const figures = await (await disk.figure(stack, scale))();
  return {
    'capacity: stored record': { value: figureOf(figures, 'disk'), unit: 'bytes of Postgres' },
    'capacity: write-ahead log': { value: figureOf(figures, 'disk: log'), unit: 'bytes' },
  };
}

async function sealed(stack: Stack, scale: Scale): Promise<Figures> {
  const figures = await (await seal.figure(stack, { ...scale, records: scale.records / 4 }))();
  return { 'capacity: sealed record': { value: figureOf(figures, 'seal: disk'), unit: 'bytes of Postgres' } };
}

/** By the figures above; nothing of it is measured at these rates. */
function needs(figures: Figures): Figures {
  const bytes = figureOf(figures, 'capacity: stored record') + figureOf(figures, 'capacity: sealed record');
  const needed: Figures = {};
  for (const rate of rates) {
    const name = `${rate.toLocaleString('en-US')}/s`;
    for (const part of parts) {
      const value = (rate * figureOf(figures, `capacity: ${part}`)) / 1e6 / share;
      needed[`${name}: ${part}`] = { value, unit: 'cores' };
    }
    const held = (rate * outage * figureOf(figures, 'capacity: waiting record')) / usable / 1e9;
    needed[`${name}: Redis, an hour without Postgres`] = { value: held, unit: 'GB' };
    needed[`${name}: disk`] = { value: (rate * bytes * year) / 1e12, unit: 'TB a year' };
    needed[`${name}: write-ahead log`] = {
      value: (rate * figureOf(figures, 'capacity: write-ahead log')) / 1e6,
      unit: 'MB/s',
    };
  }
  return needed;
}
