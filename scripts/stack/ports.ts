import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** Binds for a moment; the port that was bound, or undefined when it is taken or not allowed. */
function tryPort(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}

export async function isFree(port: number, host = LOOPBACK): Promise<boolean> {
  return (await tryPort(port, host)) !== undefined;
}

/** A loopback port that nobody listens on now. Another process may still be quicker: who binds it must be ready to ask again. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0, LOOPBACK);
  if (port === undefined) throw new Error('no free port on 127.0.0.1');
  return port;
}
