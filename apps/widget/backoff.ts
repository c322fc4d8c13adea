/** How long a record waits after a failure. */

/** Milliseconds: the wait after a failure, doubled with each further one up to the longest. */
const firstWait = 1_000;
const longestWait = 300_000;

/** Milliseconds; `failures`: those before this one. */
export const waitAfter = (failures: number): number => Math.min(firstWait * 2 ** failures, longestWait);

/** So that browsers do not all retry at the same moment. */
export const withJitter = (wait: number): number => wait * (1 + Math.random() / 2);
