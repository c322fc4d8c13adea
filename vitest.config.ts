import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './test/support/order.ts';

/** Files that measure how long something takes: one at a time, before the others. */
const timed = ['test/browser/dashboard-speed.test.ts'];

/** What all files have in common. */
const common: TestProjectInlineConfiguration['test'] = {
  setupFiles: ['test/support/each-file.ts'],
  pool: 'forks',
  // the files of a worker share its modules, its stack and its browser, which take longer to start than most files run
  isolate: false,
  // tests wait for conditions; on a busy machine these come late, and axe takes seconds for each look at a page
  testTimeout: 120_000,
  // by itself it gives up after a second
  expect: { poll: { timeout: 30_000 } },
  hookTimeout: 60_000,
  // a machine that others use too stands still now and then; `npm test` names what needed it
  retry: process.env.CI ? 1 : 0,
};

/** Many tests wait, so three files at once keep two cores busy. */
const maxWorkers = 3;

export default defineConfig({
  test: {
    globalSetup: ['test/support/setup.ts'],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    reporters: ['default'],
    projects: [
      { test: { ...common, name: 'timed', include: timed, maxWorkers: 1, sequence: { groupOrder: 0 } } },
      {
        test: {
          ...common,
          name: 'others',
          include: ['test/**/*.test.ts'],
          exclude: timed,
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
