import { newKey } from '../../stack/private-stores.ts';
import { startWorkers } from '../backlog.ts';
import type { Figures } from '../figures.ts';
import type { Measurement, Scale } from '../measurement.ts';
import type { Stack } from '../stack.ts';
import { sustained } from './sustain.ts';

/** A worker's, to seal each second; for so many seconds at least. */
export const sealing = { LOG_NAME: 'bench', LOG_KEY: newKey(), SEAL_SECONDS: '1' };
const shortest = 6;
const jobSizes = [1, 2, 5, 25];
const shardCounts = [1, 16];
const workerCounts = [1, 2, 4];
/** of one job, as an API under load makes them */
const usualSize = 50;

/** CPU time. What a record takes of memory and disk, `drain`, `disk`, `seal` and `tenants` say. */
export const capacity: Measurement = {
  name: 'capacity',
  about: 'CPU time of a record with sealing, end to end; in small jobs; one organization with 1, 2 and 4 workers',
  figure: async (stack, scale) => async () => ({
    ...(await endToEnd(stack, scale)),
    ...(await inSmallJobs(stack, scale)),
    ...(await ofOneOrganization(stack, scale)),
  }),
  targets: {},
};

async function endToEnd(stack: Stack, { seconds }: Scale): Promise<Figures> {
  await stack.reset();
  const round = await sustained('capacity', stack, Math.max(seconds, shortest), { settings: sealing });
  return round();
}

/** Many API processes and many shards make small jobs, and so does little load. */
async function inSmallJobs(stack: Stack, { records }: Scale): Promise<Figures> {
  const figures: Figures = {};
  const { domainIds } = stack;
  for (const shards of shardCounts) {
    const { drain, stop } = await startWorkers(stack, { shards });
    for (const size of jobSizes) {
      const name = `jobs: ${size} a job, ${shards} shard${shards > 1 ? 's' : ''}`;
      Object.assign(figures, await drain({ name, domainIds, size, records: Math.min(size / 100, 0.1) * records }));
    }
    await stop();
  }
  return figures;
}

/**
 * A backlog of one domain, then one of 20 domains of 5 organizations: all records of an organization change the same rows
 * of counters, so its statements may have to wait for each other.
 */
async function ofOneOrganization(stack: Stack, { records }: Scale): Promise<Figures> {
  const figures: Figures = {};
  const all = stack.domainIds;
  for (const workers of workerCounts) {
    const name = `one organization, ${workers} worker${workers > 1 ? 's' : ''}`;
    const { drain, stop } = await startWorkers(stack, { workers });
    const backlog = { name, size: usualSize, records: records / 4 };
    const many = await drain({ ...backlog, domainIds: all });
    const one = await drain({ ...backlog, domainIds: all.slice(0, 1) });
    await stop();
    const ratio = (one[name]?.value ?? Number.NaN) / (many[name]?.value ?? Number.NaN);
    Object.assign(figures, one, { [`${name} ÷ five`]: { value: ratio, unit: '' } });
  }
  return figures;
}
