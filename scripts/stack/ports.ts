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

/** A free port on the loopback. Another process may still be quicker: whoever binds it must be ready to ask again. */
export const freePort = (): Promise<number> => bind(0, '127.0.0.1');
