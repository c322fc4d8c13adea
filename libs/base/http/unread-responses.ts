/**
 * Answers that their clients have not taken yet are memory that all organizations share. Where there is more of it than
 * may be, whoever holds the most loses its oldest such answer: one that reads slowly harms itself alone.
 */
import { Readable } from 'node:stream';
import type { Context, Middleware } from './context.ts';

/** bytes in this process */
const budget = 128 * 1024 * 1024;
/** Characters or bytes: smaller answers are mostly in the buffers of the connection at once. */
const large = 16 * 1024;

interface Held {
  bytes: number;
  /** oldest first */
  answers: Set<{ bytes: number; drop: () => void }>;
}

export interface UnreadResponses {
  /** Returns what is to be called once they are sent or their client is gone. `drop` ends the answer. */
  hold(key: string, bytes: number, drop: () => void): () => void;
}

export function createUnreadResponses(most = budget): UnreadResponses {
  const held = new Map<string, Held>();
  let total = 0;

  const forget = (key: string, answer: { bytes: number }, from: Set<unknown>) => {
    if (!from.delete(answer)) return;
    total -= answer.bytes;
    const own = held.get(key);
    if (own) own.bytes -= answer.bytes;
    if (from.size === 0) held.delete(key);
  };
  const dropOne = () => {
    const [key, own] = [...held].reduce((largest, each) => (each[1].bytes > largest[1].bytes ? each : largest));
    const [oldest] = own.answers;
    if (!oldest) return;
    forget(key, oldest, own.answers);
    oldest.drop();
  };
  return {
    hold: (key, bytes, drop) => {
      const own = held.get(key) ?? { bytes: 0, answers: new Set() };
      held.set(key, own);
      const answer = { bytes, drop };
      own.answers.add(answer);
      own.bytes += bytes;
      total += bytes;
      while (total > most) dropOne();
      return () => forget(key, answer, own.answers);
    },
  };
}

/** Counts each large answer until its client has taken it. What is streamed counts its own pieces. `keyOf`: whose it is. */
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

/** Makes the text that Koa would make later; returns its length. */
export function serializeBody(ctx: Context): number {
  // a 304 has no body
  if (ctx.body == null || ctx.body instanceof Readable) return 0;
  if (typeof ctx.body === 'string' || Buffer.isBuffer(ctx.body)) return ctx.body.length;
  const text = JSON.stringify(ctx.body);
  ctx.type = 'application/json';
  ctx.body = text;
  return text.length;
}
