import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Binds for a moment; the port that was bound. Throws where it is taken or not allowed. */
async function bind(port: number, host: string): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen({ port, host, exclusive: true }), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error(`no port on ${host}`);
    return address.port;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

export const isFree = (port: number, host: string): Promise<boolean> =>
  bind(port, host).then(
    () => true,
    () => false,
  );

/** By another process. On a host that this machine does not have, nothing is. */
export const isTaken = (port: number, host: string): Promise<boolean> =>
  bind(port, host).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'EADDRINUSE',
  );

/**
 * Below those that systems give to connections and to whoever binds port 0: a server that is restarted finds its port free.
 * And above those to which neither browsers nor fetch go.
 */
const [lowest, highest] = [11_000, 32_767];
const given = new Set<number>();

/**
 * A free port on the loopback, to no two askers of this process the same. Another process may still be quicker: whoever
 * binds it must be ready to ask again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = randomInt(lowest, highest + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port, '127.0.0.1')) return port;
  }
  return bind(0, '127.0.0.1');
}
