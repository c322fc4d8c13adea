import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/order.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/setup.ts'],
    setupFiles: ['test/support/each-file.ts'],
    pool: 'forks',
    // many tests wait, so three files at once keep two cores busy; where a run decides over a change, time matters less
    maxWorkers: process.env.CI ? 2 : 3,
    // the files of a worker share its modules, its stack and its browser, which take longer to start than most files run
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // tests wait for conditions; on a busy machine these come late
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
