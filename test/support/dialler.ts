/** What a proxy does that tries the next address where one refuses the connection, before anything is sent. */
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

/** Leads each connection to one of these ports of this machine, in turn, or to the next one that takes it. */
export async function startDialler(ports: readonly number[]) {
  let turn = 0;
  const dial = (client: Socket, tries: number) => {
    turn += 1;
    const upstream = connect(ports[turn % ports.length] ?? 0, '127.0.0.1');
    let isOpen = false;
    upstream.once('connect', () => {
      isOpen = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => {
      if (isOpen || tries <= 1) client.destroy();
      else dial(client, tries - 1);
    });
    client.once('close', () => upstream.destroy());
  };
  const server = createServer((client) => {
    client.on('error', () => {});
    dial(client, ports.length);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
