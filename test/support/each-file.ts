/** Runs with every test file that needs servers, also where files share a process. */
import { afterAll } from 'vitest';
import { endAll } from './at-end.ts';
import { openShared } from './shared.ts';

await openShared();
afterAll(endAll);
