import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // tests wait for conditions; on a busy machine these come late
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
