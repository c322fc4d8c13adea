import { once } from 'node:events';
import { createServer } from 'node:net';

/** Binds for a moment; the port that was bound, or undefined when it is taken or not allowed. */
async function tryPort(port: number, host: string): Promise<number | undefined> {
  const server = createServer();
  try {
    await once(server.listen({ port, host, exclusive: true }), 'listening');
    const address = server.address();
    return typeof address === 'object' ? address?.port : undefined;
  } catch {
    return undefined;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

export async function isFree(port: number, host: string): Promise<boolean> {
  return (await tryPort(port, host)) !== undefined;
}

/** A free port on the loopback. Another process may still be quicker: whoever binds it must be ready to ask again. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0, '127.0.0.1');
  if (port === undefined) throw new Error('no free port on 127.0.0.1');
  return port;
}
