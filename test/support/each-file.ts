/** Runs with every test file that needs servers, also where files share a process. */
import { afterAll, beforeAll, expect } from 'vitest';
import { endAll } from './at-end.ts';
import { endLimit, limitSetUp } from './set-up-limit.ts';
import { openShared } from './shared.ts';
import { untilTodayLasts } from './wait.ts';

await openShared();
await untilTodayLasts();
limitSetUp(expect.getState().testPath ?? 'a file');
beforeAll(endLimit);
afterAll(endAll);
