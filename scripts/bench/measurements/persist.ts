import type { Figures } from '../figures.ts';
import { addDomains } from '../many-domains.ts';
import type { Measurement } from '../measurement.ts';
import { persistAlone } from '../programs.ts';

export const persist: Measurement = {
  name: 'persist',
  about: 'records/s of the bare persist statement at 500 rows, and what a record takes of CPU time and write-ahead log',
  comparable: true,
  targets: {},
  figure: async (stack, { records }) => {
    const organizations = stack.sites.map(({ organizationId }) => organizationId);
    const domainIds = stack.sites.slice(0, 1).map(({ domainId }) => domainId);
    const one = { records: records / 4, name: 'persist: one domain', domainIds };
    const loads = [
      { records: records / 2 },
      one,
      { ...one, name: `${one.name}, made-up user agents`, madeUp: true },
      { ...one, name: `${one.name}, notices`, notices: 'shown' as const },
      { ...one, name: `${one.name}, made-up notices`, notices: 'madeUp' as const },
      {
        records: records / 4,
        name: 'persist: 2,000 domains',
        domainIds: await addDomains(stack, organizations, 2_000),
      },
    ];
    return async () => {
      const figures: Figures = {};
      for (const each of loads) {
        // the log has more whole pages the larger the tables are
        await stack.reset();
        Object.assign(figures, await persistAlone(stack, each));
      }
      return figures;
    };
  },
};
