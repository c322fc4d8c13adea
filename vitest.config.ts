import os from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './test/support/order.ts';

// numbers and names of countries are written as the machine's language has them, and tests expect English
process.env.LC_ALL = 'C.UTF-8';

/** Tests wait more than they work: two files at once for each processor keep it busy. */
const maxWorkers = Math.min(2 * os.availableParallelism(), 6);

/** What all files have in common. */
const common: TestProjectInlineConfiguration['test'] = {
  maxWorkers,
  pool: 'forks',
  // the files of a worker share its modules, its stack and its browser, which take longer to start than most files run
  isolate: false,
  // tests wait for conditions; on a busy machine these come late, and axe takes seconds for each look at a page
  testTimeout: 240_000,
  // by itself it gives up after a second
  expect: { poll: { timeout: 60_000 } },
  hookTimeout: 240_000,
};

const withServers: TestProjectInlineConfiguration['test'] = {
  ...common,
  globalSetup: ['test/support/setup.ts'],
  setupFiles: ['test/support/each-file.ts'],
};

/** Which folders run when, scripts/test.ts says. */
export default defineConfig({
  test: {
    maxWorkers,
    // the order of files follows from the checkout alone: here as on a fresh clone, whatever ran before
    cache: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default'],
    projects: [
      { test: { ...common, name: 'unit', include: ['test/**/*.unit.test.ts'] } },
      {
        test: { ...withServers, name: 'servers', include: ['test/**/*.test.ts'], exclude: ['test/**/*.unit.test.ts'] },
      },
    ],
  },
});
