/** A TCP proxy on the loopback that can misbehave as networks do. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** `hold`: connections stay open, and bytes are lost. A number: milliseconds of delay. */
export type Weather = 'pass' | 'hold' | number;

export async function startProxy(target: number) {
  let weather: Weather = 'pass';
  const open = new Set<Socket>();
  /** Half open: bytes were lost, so these stay silent for good, and only a new connection helps. */
  const silent = new WeakSet<Socket>();

  const forward = (from: Socket, to: Socket) => {
    open.add(from);
    if (weather === 'hold') silent.add(from);
    from.on('error', () => {});
    from.on('close', () => {
      open.delete(from);
      to.destroy();
    });
    let sent: Promise<unknown> = Promise.resolve();
    from.on('data', (chunk) => {
      if (silent.has(from)) return;
      // each waits for the one before too, so that bytes stay in their order where the delay has ended meanwhile
      sent = Promise.all([sent, typeof weather === 'number' ? sleep(weather) : undefined]).then(() => {
        if (!to.destroyed) to.write(chunk);
      });
    });
  };

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    forward(client, upstream);
    forward(upstream, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();

  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    set: (next: Weather) => {
      weather = next;
      if (next === 'hold') for (const socket of open) silent.add(socket);
    },
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
