import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { createHttpServer } from '../../apps/api/http/server.ts';
import { toStream } from '../../apps/api/http/stream.ts';
import { atEnd } from '../support/at-end.ts';

const piece = 'x'.repeat(64 * 1024);
const pieces = 400;
const judgedAfter = 200;

/** A server of one long answer, for clients that read so many bytes a second. `outcome`: of the first who asks. */
async function serve(slowest: number) {
  let tell: (outcome: string) => void;
  const outcome = new Promise<string>((resolve) => {
    tell = resolve;
  });
  async function* long() {
    for (let at = 0; at < pieces; at += 1) yield piece;
  }
  const server = createHttpServer((_, response) => {
    pipeline(toStream(long(), { judgedAfter, slowest }), response).then(
      () => tell('whole'),
      (error: Error) => tell(error.message),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { port, outcome };
}

/** Reads as its `pace` says, to the end of the connection. Returns the bytes that it got. */
function read(port: number, pace: (resume: () => void) => void): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    );
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      socket.pause();
      pace(() => socket.resume());
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(bytes));
  });
}

describe('a long answer', () => {
  it('is whole for a client that reads it', async () => {
    // the server shares this process with its reader, and waits where it is busy
    const { port, outcome } = await serve(16 * 1024);
    expect(await read(port, (resume) => resume())).toBeGreaterThan(pieces * piece.length);
    expect(await outcome).toBe('whole');
  });

  it('ends early for a client that reads too slowly, which is disconnected', async () => {
    const { port, outcome } = await serve(8 * 1024 * 1024);
    expect(await read(port, (resume) => setTimeout(resume, 60))).toBeLessThan(pieces * piece.length);
    expect(await outcome).toBe('slow client');
  });
});
