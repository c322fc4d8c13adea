/**
 * Reads a large body at the reader's pace, up to a limit. It may take longer than other requests, but a client that hardly
 * sends is refused.
 */
import type { IncomingMessage } from 'node:http';
import { Problem, unavailable } from '../terms/problem.ts';
import { TimedOut, within } from '../timers.ts';
import { parseMediaType, requireUncompressed, tooSmallChunks } from './body.ts';
import { isMostlyOverhead } from './connection.ts';
import type { Context } from './context.ts';

/** Milliseconds in which a client could send but does not. */
const idleAfter = 30_000;
/** Milliseconds of waiting for the client after which its pace is checked. */
const judgedAfter = 60_000;
/** bytes in a second */
const slowest = 16 * 1024;

const uploads = new WeakSet<IncomingMessage>();

/** The server's limit on the time for a whole request does not apply to it. */
export const isUpload = (request: IncomingMessage): boolean => uploads.has(request);

/** Throws a 415 unless the body has this type and is uncompressed. Returns its charset. */
export function requireType(ctx: Context, type: string): string | undefined {
  const { 'content-type': given = '', 'content-encoding': encoding } = ctx.req.headers;
  const sent = parseMediaType(given);
  if (sent?.type !== type) throw new Problem('unsupported_media_type', `send Content-Type: ${type}`);
  requireUncompressed(encoding);
  return sent.charset;
}

/** Throws a 413 once there are more than `limit` bytes. */
export async function* readUpload(ctx: Context, limit: number): AsyncGenerator<Buffer> {
  const request = ctx.req;
  const tooLarge = () => new Problem('payload_too_large', `send at most ${limit} bytes`);
  if (Number(request.headers['content-length']) > limit) throw tooLarge();
  uploads.add(request);
  // the connection is silent while the reader waits for the stores
  const { socket } = request;
  const { timeout = 0 } = socket;
  socket.setTimeout(0);
  ctx.res.once('close', () => socket.setTimeout(timeout));
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
    if (isMostlyOverhead(request, size)) throw tooSmallChunks();
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
