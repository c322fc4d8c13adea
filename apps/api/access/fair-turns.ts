/**
 * Large reads take turns within their organization: one page of records may be some megabytes, and many at once, or
 * many whose readers take nothing, would cost the others their memory and time. Whoever waits too long gets the deadline's 503.
 */
import { unavailable } from '#libs/contract/problem';
import type { Context, Middleware } from '../http/context.ts';
import { organizationIn } from './bearer.ts';

/** reads of one organization at once */
const defaultAtOnce = 4;
/** Characters: an answer beyond this keeps its turn until it is sent, or its reader gone. */
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
      // its client may have left, or been told of the deadline, while it waited
      if (ctx.res.writableEnded || ctx.res.destroyed) return;
      await next();
      size = stringify(ctx);
    } finally {
      if (size > large && !ctx.res.destroyed) ctx.res.once('close', () => leave(key, line));
      else leave(key, line);
    }
  };
}

/** Now instead of later, so that its size is known. */
function stringify(ctx: Context): number {
  const text = JSON.stringify(ctx.body);
  ctx.type = 'application/json';
  ctx.body = text;
  return text.length;
}
