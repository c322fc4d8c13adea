/** Processes whose clock is wrong. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../scripts/stack/paths.ts';

/** What a process is started with so that its clock is ahead by so many milliseconds. */
export function clockAhead(milliseconds: number): { NODE_OPTIONS: string } {
  const preload = pathToFileURL(path.join(root, 'test/support/clock-ahead.mjs'));
  return { NODE_OPTIONS: `--import=${preload}?milliseconds=${milliseconds}` };
}
