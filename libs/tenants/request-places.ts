/**
 * Limits concurrent requests; organizations take turns. A place is held until the response is made: sending it to a slow
 * client, or receiving a body, needs none.
 */
import type { Context, Middleware } from '#libs/base/http/context';
import { serializeBody } from '#libs/base/http/unread-responses';
import type { Places } from '#libs/base/places';
import { unavailable } from '#libs/base/terms/problem';
import { organizationIn } from './bearer.ts';
import { endOf } from './shared-places.ts';

export const readInPlace =
  (reads: Places): Middleware =>
  (ctx, next) => {
    const { res } = ctx;
    const isOver = () => res.writableEnded || res.destroyed;
    ctx.state.inPlace = (read) =>
      workInPlace(reads, ctx, async () => {
        if (isOver()) throw hasEnded();
        await read();
        // making the text of the response is work, too
        serializeBody(ctx);
      });
    return next();
  };

export const changeInPlace =
  (changes: Places): Middleware =>
  (ctx, next) => {
    ctx.state.inPlace = (change) => workInPlace(changes, ctx, change);
    return next();
  };

/** Does work once the request's organization has a place. Rejects once nobody waits for it any more. */
export async function workInPlace<T>(places: Places, ctx: Context, work: () => Promise<T>): Promise<T> {
  const { organizationId } = organizationIn(ctx);
  const leave = places.tryTake(organizationId) ?? (await waitFor(places, organizationId, ctx));
  try {
    return await work();
  } finally {
    leave();
  }
}

async function waitFor(places: Places, organizationId: string, ctx: Context): Promise<() => void> {
  const end = endOf(ctx);
  try {
    return await places.take(organizationId, end);
  } catch (error) {
    if (end.aborted) throw hasEnded();
    throw unavailable('too many requests of your organization are waiting; try again', { cause: error });
  }
}

/** The deadline has passed, or the client has left. */
const hasEnded = () => unavailable('the request has ended before its turn', { elsewhere: true });
