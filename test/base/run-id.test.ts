import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connectRedis } from '#libs/base/redis/connection';
import { atEnd } from '../support/at-end.ts';
import { openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** Longer than a command of a producer may take, and shorter than a connection may stay silent. */
const stall = 1_500;

/** A way to Redis on which the second INFO, the one that tells the run_id, is answered late once. */
async function openStallingWay(port: number): Promise<number> {
  let told = 0;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as [Socket, Socket][]) {
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
    client.pipe(upstream);
    upstream.on('data', async (chunk) => {
      if (chunk.includes('run_id:')) told += 1;
      if (told === 2 && chunk.includes('run_id:')) await sleep(stall);
      client.write(chunk);
    });
  });
  atEnd(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

it('the run_id is known after a moment in which Redis did not answer', async () => {
  const redis = await openRedisServer();
  const url = new URL(redis.url);
  url.port = String(await openStallingWay(redis.port));
  const connection = connectRedis({ url: url.toString(), clusterNodes: [] }, 'producer', { warn: () => {} });
  atEnd(() => connection.close());
  await eventually(() => expect(connection.client.status).toBe('ready'));
  expect(connection.runIdOf('')).toBeUndefined();
  await eventually(() => expect(connection.runIdOf('')).toMatch(/^\w{40}$/));
});
