import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Resolves to its port. Rejects where that is taken or not allowed. */
export async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await once(server.listen({ port, host, exclusive: true }), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Binds for a moment; the port that was bound. */
async function bind(port: number, host: string): Promise<number> {
  const server = createServer();
  try {
    return await listen(server, port, host);
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

/** Below those given to connections, so a restarted server finds its port free; above those that browsers refuse. */
const [lowest, highest] = [11_000, 32_767];
const given = new Set<number>();

/** A free port on the loopback, never the same twice. Another process may be quicker: be ready to ask again. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = randomInt(lowest, highest + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port, '127.0.0.1')) return port;
  }
  return bind(0, '127.0.0.1');
}
