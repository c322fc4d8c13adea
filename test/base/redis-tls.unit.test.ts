import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connectRedis, type RedisAddress } from '#libs/base/redis/connection';

/** What the first client says that connects. */
async function listen(): Promise<{ node: string; heard: Promise<Buffer> }> {
  const server = createServer();
  const heard = new Promise<Buffer>((resolve) =>
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.once('data', (said) => {
        resolve(said);
        socket.destroy();
      });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { node: `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, heard };
}

const url = 'rediss://user:s3cret@127.0.0.1';
const ways: Record<string, (node: string) => RedisAddress> = {
  server: (node) => ({ url: `rediss://user:s3cret@${node}`, clusterNodes: [] }),
  cluster: (node) => ({ url, clusterNodes: [node] }),
  sentinels: (node) => ({ url, clusterNodes: [], sentinels: { nodes: [node], master: 'assent', password: 's3cret' } }),
};

it.each(Object.keys(ways))('with rediss: the first that a %s hears is TLS, and no password', async (way) => {
  const { node, heard } = await listen();
  const connection = connectRedis(ways[way]?.(node) ?? { url, clusterNodes: [] }, 'producer', { warn: () => {} });
  const said = await heard;
  await connection.close();
  // a record of the TLS handshake (RFC 8446, 5.1)
  expect(said[0]).toBe(22);
  expect(said.includes('s3cret')).toBe(false);
});
