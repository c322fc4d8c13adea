/** How long a record waits after a failure. */
import { min } from '#libs/widget/tamper-proof';
import { randomHex } from './uuid.ts';

/** Milliseconds: the wait after a failure, doubled with each further one up to the longest. */
const firstWait = 1_000;
const longestWait = 300_000;

/** Milliseconds; `failures`: the number before this one. */
export const waitAfter = (failures: number): number => min(firstWait * 2 ** failures, longestWait);

/** Adds up to half the wait, so that browsers do not all retry at the same moment. */
export const withJitter = (wait: number): number => wait * (1.5 - +`0x${randomHex(2)}` / 2 ** 17);
