/**
 * Large reads of one organization take turns. A page of records may be several megabytes, so many at once, or many whose
 * clients stop reading, would take memory and time from other organizations. A read that waits too long gets the deadline's 503.
 */
import { Readable } from 'node:stream';
import { unavailable } from '#libs/contract/problem';
import type { Context, Middleware } from '../http/context.ts';
import { organizationIn } from './bearer.ts';

/** reads of one organization at once */
const defaultAtOnce = 4;
/** Characters or bytes. A larger answer keeps its turn until it is sent or its client is gone. */
const large = 256 * 1024;
const maxWaiting = 200;

interface Line {
  taken: number;
  waiting: (() => void)[];
}

export function fairTurns(atOnce = defaultAtOnce): Middleware {
  const lines = new Map<string, Line>();

  const take = async (key: string): Promise<Line> => {
    const line = lines.get(key) ?? { taken: 0, waiting: [] };
    lines.set(key, line);
    if (line.taken < atOnce) line.taken += 1;
    else if (line.waiting.length >= maxWaiting) throw unavailable('too many reads are waiting; try again');
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    return line;
  };
  /** Passes the turn on. */
  const leave = (key: string, line: Line) => {
    const next = line.waiting.shift();
    if (next) next();
    else {
      line.taken -= 1;
      if (line.taken === 0) lines.delete(key);
    }
  };

  return async (ctx, next) => {
    const key = organizationIn(ctx).organizationId;
    const line = await take(key);
    let size = 0;
    try {
      // while it waited the client may have left, or the deadline may have answered
      if (ctx.res.writableEnded || ctx.res.destroyed) return;
      await next();
      size = stringify(ctx);
    } finally {
      if (size > large && !ctx.res.destroyed) ctx.res.once('close', () => leave(key, line));
      else leave(key, line);
    }
  };
}

/** Done here, so that the size is known. */
function stringify(ctx: Context): number {
  // a 304 has no body
  if (ctx.body == null) return 0;
  if (Buffer.isBuffer(ctx.body)) return ctx.body.length;
  if (ctx.body instanceof Readable) return Number.POSITIVE_INFINITY;
  const text = JSON.stringify(ctx.body);
  ctx.type = 'application/json';
  ctx.body = text;
  return text.length;
}
