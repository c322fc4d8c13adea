/** A TCP proxy that tries the next port where one refuses: what is sent to it reaches whichever process listens. */
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

interface Dialler {
  port: number;
  url: string;
  /** connections on which the last response did not say so, and which a process ended all the same */
  endedUnasked(): number;
}

/** Leads each connection to one of these ports of this machine, in turn, or to the next one that takes it. */
export async function startDialler(ports: readonly number[]): Promise<Dialler> {
  let turn = 0;
  let unasked = 0;
  const dial = (client: Socket, [port = 0, ...others]: readonly number[]) => {
    const upstream = connect(port, '127.0.0.1');
    let isOpen = false;
    let isKept = false;
    upstream.once('connect', () => {
      isOpen = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.on('data', (data) => {
      isKept = /^connection: keep-alive\r$/im.test(data.toString('latin1'));
    });
    upstream.once('end', () => {
      if (isKept && !client.readableEnded) unasked += 1;
    });
    upstream.on('error', () => {
      if (isOpen || others.length === 0) client.destroy();
      else dial(client, others);
    });
    client.once('close', () => upstream.destroy());
  };
  const server = createServer((client) => {
    client.on('error', () => {});
    turn += 1;
    dial(client, [...ports.slice(turn % ports.length), ...ports.slice(0, turn % ports.length)]);
  });
  const port = await listen(server);
  return { port, url: `http://127.0.0.1:${port}`, endedUnasked: () => unasked };
}
