import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connectRedis } from '#libs/base/redis/connection';
import { atEnd } from '../support/at-end.ts';
import { openGate } from '../support/gate.ts';
import { openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** Longer than a command of a producer may take, and shorter than a connection may stay silent. */
const stall = 1_500;

it('the run_id is known after a moment in which Redis did not respond', async () => {
  const redis = await openRedisServer();
  let asked = 0;
  let stalls = () => {};
  const stalled = new Promise<void>((resolve) => {
    stalls = resolve;
  });
  const hold = (response: Buffer) => {
    if (!response.includes('run_id:')) return undefined;
    asked += 1;
    // the first is for the client itself
    if (asked !== 2) return undefined;
    stalls();
    return sleep(stall);
  };
  const { url } = await openGate(redis.url, { hold });
  const connection = connectRedis({ url, clusterNodes: [] }, 'producer', { warn: () => {} });
  atEnd(() => connection.close());
  await stalled;
  expect(connection.runIdOf('')).toBeUndefined();
  await eventually(() => expect(connection.runIdOf('')).toMatch(/^\w{40}$/));
});
