/** A proxy for a server that tests share: closed for an outage, or frozen like a server that stops responding. */
import { connect, createServer, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';
import { listen } from './listen.ts';

export interface Gate {
  /** the server's address, through the gate */
  url: string;
  open(): void;
  /** ends every connection and takes no new one */
  shut(): void;
  /** keeps connections and takes new ones, but nothing passes any more */
  freeze(): void;
  /** what clients send passes, and no response does */
  loseAnswers(): void;
  /** bytes that the server has sent */
  answered(): number;
  /** how many are open */
  connections(): number;
  /** new connections go to that server, as after a change of DNS; those there are stay */
  leadTo(url: string): void;
}

/** Holds back one response, and all that follow on its connection, until the promise resolves. */
type Hold = (answer: Buffer, connection: object) => Promise<unknown> | undefined;

/** `delay`: milliseconds that each piece takes in either direction, as on a long way. */
export async function openGate(
  url: string,
  { delay = 0, hold = () => undefined }: { delay?: number; hold?: Hold } = {},
): Promise<Gate> {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  let answered = 0;
  let state: 'open' | 'shut' | 'frozen' | 'mute' = 'open';
  const passes = (isAnswer: boolean) => state === 'open' || (state === 'mute' && !isAnswer);

  const server = createServer((socket) => {
    if (state === 'shut') return void socket.destroy();
    const onward = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.on('data', async (data) => {
        if (from === onward) answered += data.length;
        const held = from === onward ? hold(data, onward) : undefined;
        if (held) {
          from.pause();
          await held;
          from.resume();
        }
        if (!passes(from === onward)) return;
        if (delay > 0) setTimeout(() => to.write(data), delay);
        else to.write(data);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const through = new URL(url);
  through.port = String(await listen(server));
  atEnd(destroyAll);
  return {
    url: through.toString(),
    // what was swallowed is lost, so these connections are of no use
    open: () => {
      if (state !== 'open') destroyAll();
      state = 'open';
    },
    shut: () => {
      state = 'shut';
      destroyAll();
    },
    freeze: () => {
      state = 'frozen';
    },
    loseAnswers: () => {
      state = 'mute';
    },
    answered: () => answered,
    // each has two ends
    connections: () => sockets.size / 2,
    leadTo: (next) => {
      target = new URL(next);
    },
  };
}
