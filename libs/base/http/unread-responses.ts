/**
 * Responses that clients have not read yet use memory that all organizations share. Above a limit, the organization that
 * uses the most loses its oldest unread response, so a slow client only harms its own organization.
 */
import { Readable } from 'node:stream';
import type { Context, Middleware } from './context.ts';

/** bytes in this process */
const memoryLimit = 128 * 1024 * 1024;
/** Characters or bytes: smaller responses mostly fit into the buffers of the connection. */
const large = 16 * 1024;

interface OfOneKey {
  bytes: number;
  /** oldest first */
  responses: Set<{ bytes: number; drop: () => void }>;
}

export interface UnreadResponses {
  /** Returns a function to call once the response was read or its client is gone. `drop` ends the response. */
  track(key: string, bytes: number, drop: () => void): () => void;
}

export function createUnreadResponses(most = memoryLimit): UnreadResponses {
  const unread = new Map<string, OfOneKey>();
  let total = 0;

  const forget = (key: string, response: { bytes: number }, from: Set<unknown>) => {
    if (!from.delete(response)) return;
    total -= response.bytes;
    const own = unread.get(key);
    if (own) own.bytes -= response.bytes;
    if (from.size === 0) unread.delete(key);
  };
  const dropOne = () => {
    const [key, own] = [...unread].reduce((largest, each) => (each[1].bytes > largest[1].bytes ? each : largest));
    const [oldest] = own.responses;
    if (!oldest) return;
    forget(key, oldest, own.responses);
    oldest.drop();
  };
  return {
    track: (key, bytes, drop) => {
      const own = unread.get(key) ?? { bytes: 0, responses: new Set() };
      unread.set(key, own);
      const response = { bytes, drop };
      own.responses.add(response);
      own.bytes += bytes;
      total += bytes;
      while (total > most) dropOne();
      return () => forget(key, response, own.responses);
    },
  };
}

/** Tracks each large response until its client has read it; streams track their own pieces. `keyOf`: whose response it is. */
export const limitUnreadResponses =
  (unreadResponses: UnreadResponses, keyOf: (ctx: Context) => string): Middleware =>
  async (ctx, next) => {
    await next();
    const size = serializeBody(ctx);
    const { res } = ctx;
    if (size <= large || res.writableEnded || res.destroyed) return;
    res.once(
      'close',
      unreadResponses.track(keyOf(ctx), size, () => res.destroy()),
    );
  };

/** Serializes the body as Koa would later; returns its length. */
export function serializeBody(ctx: Context): number {
  // a 304 has no body
  if (ctx.body == null || ctx.body instanceof Readable) return 0;
  if (typeof ctx.body === 'string' || Buffer.isBuffer(ctx.body)) return ctx.body.length;
  const text = JSON.stringify(ctx.body);
  ctx.type = 'application/json';
  ctx.body = text;
  return text.length;
}
