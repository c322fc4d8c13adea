/** A TCP proxy on the loopback that can misbehave as networks do. */
import { connect, createServer, type Socket } from 'node:net';

/** `hold`: connections stay open and nothing passes, also later. `refuse`: they end at once. A number: milliseconds of delay. */
export type Weather = 'pass' | 'hold' | 'refuse' | number;

export interface TcpProxy {
  port: number;
  set(weather: Weather): void;
  /** Ends every connection there is. */
  cut(): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<TcpProxy> {
  let weather: Weather = 'pass';
  const pairs = new Set<[Socket, Socket]>();
  /** half open: bytes of theirs were lost, so they stay silent for good, and only a new connection helps */
  const silent = new WeakSet<Socket>();

  const forward = (from: Socket, to: Socket) => {
    from.on('data', (chunk) => {
      const send = () => {
        if (!to.destroyed) to.write(chunk);
      };
      if (silent.has(from)) return;
      if (typeof weather === 'number') setTimeout(send, weather);
      else send();
    });
  };

  const server = createServer((client) => {
    client.on('error', () => {});
    if (weather === 'refuse') return void client.destroy();
    const upstream = connect(target, '127.0.0.1');
    upstream.on('error', () => {});
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    if (weather === 'hold') for (const socket of pair) silent.add(socket);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  const cut = () => {
    for (const [client, upstream] of [...pairs]) {
      client.destroy();
      upstream.destroy();
    }
  };
  return {
    port,
    set: (next) => {
      weather = next;
      if (next === 'hold') for (const socket of [...pairs].flat()) silent.add(socket);
      if (next === 'refuse') cut();
    },
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
