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
  /** oldest first; each begins a read */
  waiting: Set<() => void>;
}

export function fairTurns(atOnce = defaultAtOnce): Middleware {
  const lines = new Map<string, Line>();

  /** Undefined where the request was answered meanwhile, such as by the deadline, or its client has left. */
  const take = async (key: string, { res }: Context): Promise<Line | undefined> => {
    if (res.writableEnded || res.destroyed) return undefined;
    const line = lines.get(key) ?? { taken: 0, waiting: new Set() };
    lines.set(key, line);
    if (line.taken < atOnce) {
      line.taken += 1;
      return line;
    }
    if (line.waiting.size >= maxWaiting) throw unavailable('too many reads are waiting; try again');
    return new Promise((resolve) => {
      const begin = () => {
        res.off('close', giveUp);
        resolve(line);
      };
      const giveUp = () => {
        line.waiting.delete(begin);
        resolve(undefined);
      };
      line.waiting.add(begin);
      res.once('close', giveUp);
    });
  };
  /** Passes the turn on. */
  const leave = (key: string, line: Line) => {
    const [begin] = line.waiting;
    if (begin) {
      line.waiting.delete(begin);
      begin();
    } else {
      line.taken -= 1;
      if (line.taken === 0) lines.delete(key);
    }
  };

  return async (ctx, next) => {
    const key = organizationIn(ctx).organizationId;
    const line = await take(key, ctx);
    if (!line) return;
    let size = 0;
    try {
      // answered just now
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
