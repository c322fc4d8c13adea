/** Streams long responses at the client's pace. A client that hardly reads is disconnected. */
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Context } from './context.ts';

/** Milliseconds of waiting for the client after which its pace is checked. */
const judgedAfter = 60_000;
/** bytes in a second */
const slowest = 16 * 1024;
/** milliseconds: less than the server's timeout for silent connections */
const beatEvery = 5_000;

type Chunks = AsyncIterable<string | Uint8Array>;

export interface PaceLimits {
  judgedAfter: number;
  slowest: number;
}

export function toStream(chunks: Chunks, limits: PaceLimits = { judgedAfter, slowest }): Readable {
  return Readable.from(atClientsPace(chunks, limits), { objectMode: false, highWaterMark: 64 * 1024 });
}

/** Keeps the connection open while we wait for our own stores or places: the client is not the one who is silent. */
export async function* keepingOpen<Part>(
  { req: { socket } }: Context,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part> {
  const waiting = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const beat = setInterval(() => socket.setTimeout(socket.timeout ?? 0), beatEvery);
      const next = await waiting.next().finally(() => clearInterval(beat));
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await waiting.return?.();
  }
}

/**
 * Tracks each piece as memory until the client has read it. `hold` gets its size and returns a function that releases it.
 */
export async function* holdUntilRead<Piece extends string | Uint8Array>(
  pieces: AsyncIterable<Piece>,
  hold: (size: number) => () => void,
): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    const release = hold(piece.length);
    try {
      yield piece;
    } finally {
      release();
    }
  }
}

/** At the fastest level, because other work waits for the same cores. */
export async function* gzipped(chunks: Chunks): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // an error of either stream ends the other and reaches the reader
  pipeline(Readable.from(chunks, { objectMode: false }), gzip, () => {});
  yield* gzip;
}

async function* atClientsPace(chunks: Chunks, limits: PaceLimits) {
  let waited = 0;
  let sent = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const from = performance.now();
    yield bytes;
    waited += performance.now() - from;
    sent += bytes.length;
    if (waited < limits.judgedAfter) continue;
    if (sent < (waited / 1_000) * limits.slowest)
      throw Object.assign(new Error('slow client'), { code: 'ECONNABORTED' });
    waited = 0;
    sent = 0;
  }
}
