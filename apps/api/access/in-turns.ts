/**
 * Reads by turns over organizations. A place is for the work of a read, until its answer is made: how fast a client takes
 * it, or sends a body, is no work. Large answers that wait for their clients are counted as memory instead.
 */
import { Readable } from 'node:stream';
import { unavailable } from '#libs/contract/problem';
import type { Places } from '#libs/runtime/places';
import type { Context, Middleware } from '../http/context.ts';
import type { Unsent } from '../http/unsent.ts';
import { organizationIn } from './bearer.ts';
import { endOf } from './shared-places.ts';

/** Characters or bytes: smaller answers are mostly in the buffers of the connection at once. */
const large = 256 * 1024;

export function inTurns({ reads, unsent }: { reads: Places; unsent: Unsent }): Middleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const { organizationId } = organizationIn(ctx);
    const { res } = ctx;
    const end = endOf(ctx);
    const leave = await reads.take(organizationId, end).catch((error: unknown) => {
      // the deadline has answered meanwhile, or the client has left
      if (end.aborted) return undefined;
      throw unavailable('too many reads are waiting; try again', { cause: error });
    });
    try {
      if (!leave || res.writableEnded || res.destroyed) return;
      await next();
      const size = stringify(ctx);
      if (size <= large || res.writableEnded || res.destroyed) return;
      res.once(
        'close',
        unsent.hold(organizationId, size, () => res.destroy()),
      );
    } finally {
      leave?.();
    }
  };
}

/** Done here, since it is work, and so that the size is known. What is streamed counts its own pieces. */
function stringify(ctx: Context): number {
  // a 304 has no body
  if (ctx.body == null || ctx.body instanceof Readable) return 0;
  if (typeof ctx.body === 'string' || Buffer.isBuffer(ctx.body)) return ctx.body.length;
  const text = JSON.stringify(ctx.body);
  ctx.type = 'application/json';
  ctx.body = text;
  return text.length;
}
