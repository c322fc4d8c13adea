/**
 * A body that takes longer than a request may otherwise: read as it comes, at the reader's pace, up to a limit. A client
 * that hardly sends is refused.
 */
import type { IncomingMessage } from 'node:http';
import { Problem, unavailable } from '../terms/problem.ts';
import { TimedOut, within } from '../timers.ts';
import { parseMediaType, requireUnpacked } from './body.ts';
import type { Context } from './context.ts';

/** Milliseconds in which a client sends nothing although it could. */
const idleAfter = 30_000;
/** Milliseconds spent waiting for the client, after which its pace is judged. */
const judgedAfter = 60_000;
/** bytes in a second */
const slowest = 16 * 1024;
/** Milliseconds that a refused client has to read its answer while it still sends. */
const lingersFor = 10_000;

const uploads = new WeakSet<IncomingMessage>();

/** The server's limit on the time for a whole request does not apply to it. */
export const isUpload = (request: IncomingMessage): boolean => uploads.has(request);

/** Answers with 415 unless the body is of this type, and uncompressed. Returns the charset that it names. */
export function requireType(ctx: Context, type: string): string | undefined {
  const { 'content-type': given = '', 'content-encoding': encoding } = ctx.req.headers;
  const sent = parseMediaType(given);
  if (sent?.type !== type) throw new Problem('unsupported_media_type', `send Content-Type: ${type}`);
  requireUnpacked(encoding);
  return sent.charset;
}

/** Throws a 413 once there are more than `limit` bytes. */
export async function* readUpload(ctx: Context, limit: number): AsyncGenerator<Buffer> {
  const request = ctx.req;
  const tooLarge = () => new Problem('payload_too_large', `send at most ${limit} bytes`);
  if (Number(request.headers['content-length']) > limit) throw tooLarge();
  uploads.add(request);
  // while the reader waits for the stores nothing moves on the connection
  request.socket.setTimeout(0);
  const chunks = request[Symbol.asyncIterator]();
  let size = 0;
  let waited = 0;
  let sent = 0;
  for (;;) {
    const from = performance.now();
    const next = await within(idleAfter, chunks.next()).catch((error: unknown) => {
      if (error instanceof TimedOut) throw tooSlow();
      throw new Problem('invalid_request', 'the body ended before it was complete', { cause: error });
    });
    if (next.done) return;
    const chunk: unknown = next.value;
    if (!Buffer.isBuffer(chunk)) throw new Error('a body is read as bytes');
    size += chunk.length;
    if (size > limit) throw tooLarge();
    waited += performance.now() - from;
    sent += chunk.length;
    if (waited >= judgedAfter) {
      if (sent < (waited / 1_000) * slowest) throw tooSlow();
      waited = 0;
      sent = 0;
    }
    yield chunk;
  }
}

const tooSlow = () => unavailable('the body did not arrive in time; send the file again', { elsewhere: true });

/** What a refused client still sends is dropped for a while: closing the connection at once could lose the answer. */
export function dropRest(ctx: Context): void {
  const { req: request } = ctx;
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  ctx.set('Connection', 'close');
  // after an answer that says so Node closes both ways, and the client's system drops the answer as its writes fail
  socket.destroySoon = () => void socket.end();
  request.on('error', () => {});
  request.removeAllListeners('readable');
  setImmediate(() => request.resume());
  setTimeout(() => socket.destroy(), lingersFor).unref();
}
