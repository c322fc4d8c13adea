import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../apps/api/http/server.ts';
import { gzipped, toStream } from '../../apps/api/http/stream.ts';
import { eventually } from '../support/wait.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** random, so that gzip makes it no smaller */
const piece = crypto.getRandomValues(new Uint8Array(60_000));

describe('an answer that is sent as it is made', () => {
  let server: Server;
  let client: Socket;
  let made = 0;
  let isOver = false;

  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** It has no end; `isOver` once nothing of it is held any more. */
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        made += piece.length;
        yield piece;
      }
    } finally {
      isOver = true;
    }
  }
  const open = async (limits: { judgedAfter: number; slowest: number }, isGzipped: boolean) => {
    made = 0;
    isOver = false;
    server = createHttpServer((_, response) => {
      const body = toStream(isGzipped ? gzipped(endless()) : endless(), limits);
      pipeline(body, response, () => {});
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => {});
    client.write(request);
  };
  /** so many bytes a second */
  const read = async (pace: number) => {
    client.pause();
    const every = 20;
    const timer = setInterval(() => client.read(Math.ceil((pace * every) / 1_000)) ?? client.read(), every);
    await once(client, 'close');
    clearInterval(timer);
  };

  it.each([
    ['as it is', false],
    ['gzipped', true],
  ] as const)('is cut off where the client reads too slowly, and nothing of it is held: %s', async (_, isGzipped) => {
    await open({ judgedAfter: 300, slowest: 100_000_000 }, isGzipped);
    await read(2_000_000);
    await eventually(() => expect(isOver).toBe(true));
  });

  it('waits for a client that stops for a while, and makes no more meanwhile', async () => {
    await open({ judgedAfter: 60_000, slowest: 16_384 }, false);
    client.pause();
    // until the kernel takes no more
    let before = -1;
    await eventually(
      async () => {
        const at = made;
        const isStill = at > 0 && at === before;
        before = at;
        if (!isStill) throw new Error('it goes on');
      },
      { within: 20_000 },
    );
    expect(made).toBeLessThan(64 * 1024 * 1024);
    const stalled = made;
    client.resume();
    await eventually(() => expect(made).toBeGreaterThan(stalled + 10_000_000), { within: 20_000 });
    client.destroy();
    await eventually(() => expect(isOver).toBe(true));
  });
});
