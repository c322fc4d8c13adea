import type { NewRecord } from '#libs/contract/record';
import { closeEpoch } from '#libs/store/epochs/epochs';
import { persist } from '#libs/store/records/persist';
import { createDatabase } from '#libs/store/sql';
import { createBlanking } from '../../../apps/worker/derive/blank/blanking.ts';
import { createFacets } from '../../../apps/worker/derive/facets/facets.ts';
import { cpuTime } from '../cpu-time.ts';
import { atLeast, atMost, type Figures } from '../figures.ts';
import { addDomains } from '../many-domains.ts';
import type { Measurement } from '../measurement.ts';
import { makeRecord } from '../requests.ts';
import type { Stack } from '../stack.ts';

interface Load {
  name: string;
  domainIds: string[];
  /** of one epoch */
  records: number;
  /** The first one is not counted: it makes the rows that the others find. */
  epochs: number;
  /** different countries, and as many banner versions */
  values: number;
}

/** Facets in this process, alone: all that was stored before. */
export const facets: Measurement = {
  name: 'facets',
  about: 'records/s whose facets are derived, alone; CPU time of each; 2,000 domains with 300 countries and versions',
  figure: async (stack, { records }) => {
    const organizations = stack.sites.map(({ organizationId }) => organizationId);
    const busy = stack.sites.map(({ domainId }) => domainId);
    const many = await addDomains(stack, organizations, 2_000);
    const loads: Load[] = [
      { name: 'facets', domainIds: busy, records: records / 4, epochs: 4, values: 12 },
      { name: 'facets: 2,000 domains', domainIds: many, records: records * 1.5, epochs: 2, values: 300 },
    ];
    return async () => {
      const figures: Figures = {};
      for (const load of loads) Object.assign(figures, await deriveAll(stack, load));
      return figures;
    };
  },
  targets: { 'facets: CPU': atMost(6), 'facets: 2,000 domains': atLeast(5_000, 'figure') },
};

async function deriveAll(stack: Stack, { name, domainIds, records, epochs, values }: Load): Promise<Figures> {
  const timeouts = { statementTimeout: 60_000, deadline: 61_000 };
  const db = createDatabase({ url: stack.databaseUrl, max: 6, ...timeouts, prepare: true, name: 'bench' });
  const [blank, derive] = [createBlanking({ db, privacyKey: undefined }), createFacets(db)];
  const never = new AbortController().signal;
  const used = { worker: 0, postgres: 0, seconds: 0 };
  try {
    await stack.reset();
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      for (let from = 0; from < records; from += 1_000) {
        const batch = Array.from({ length: Math.min(1_000, records - from) }, (_, n) =>
          vary(makeRecord(domainIds, from + n, Date.now()), values),
        );
        await persist(db, batch);
      }
      await closeEpoch(db, { every: 0, patience: 5_000 });
      await db.run((sql) => sql`vacuum facets`, 60_000);
      await blank(never);
      const before = { worker: cpuTime(process.pid), postgres: cpuTime(stack.pids.Postgres), at: performance.now() };
      await derive(never);
      if (epoch === 0) continue;
      used.worker += cpuTime(process.pid) - before.worker;
      used.postgres += cpuTime(stack.pids.Postgres) - before.postgres;
      used.seconds += (performance.now() - before.at) / 1_000;
    }
    const derived = (epochs - 1) * records;
    return {
      [name]: { value: derived / used.seconds, unit: 'records/s' },
      [`${name}: CPU`]: { value: (used.worker + used.postgres) / derived, unit: 'µs CPU' },
      [`${name}: worker`]: { value: used.worker / derived, unit: 'µs CPU' },
    };
  } finally {
    await db.close();
  }
}

const random = (below: number): number => Math.floor(Math.random() * below);
const letter = (at: number): string => String.fromCharCode(65 + at);

function vary(record: NewRecord, values: number): NewRecord {
  const country = random(values);
  return {
    ...record,
    country: letter(Math.floor(country / 26)) + letter(country % 26),
    bannerVersion: `2.${random(values)}`,
  };
}
