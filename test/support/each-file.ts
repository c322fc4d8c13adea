/** Runs with every test file, also where files share a process. */
import { afterAll } from 'vitest';
import { endAll } from './at-end.ts';

afterAll(endAll);
