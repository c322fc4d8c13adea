/** A TCP proxy on the loopback that can misbehave as networks do. */
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** `hold`: connections stay open, and bytes are lost. `refuse`: they end at once. A number: milliseconds of delay. */
export type Weather = 'pass' | 'hold' | 'refuse' | number;

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
    // bytes stay in their order, also where the delay has ended meanwhile
    let waiting = 0;
    let sent = Promise.resolve();
    from.on('data', (chunk) => {
      if (silent.has(from)) return;
      const send = () => {
        if (!to.destroyed) to.write(chunk);
      };
      if (typeof weather !== 'number' && waiting === 0) return void send();
      const due = performance.now() + (typeof weather === 'number' ? weather : 0);
      waiting += 1;
      sent = sent
        .then(() => sleep(Math.max(0, due - performance.now())))
        .then(() => {
          waiting -= 1;
          send();
        });
    });
  };

  const server = createServer((client) => {
    if (weather === 'refuse') return void client.destroy();
    const upstream = connect(target, '127.0.0.1');
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();

  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    set: (next: Weather) => {
      weather = next;
      if (next === 'hold') for (const socket of open) silent.add(socket);
      if (next === 'refuse') cut();
    },
    cut,
    close: () => {
      cut();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
