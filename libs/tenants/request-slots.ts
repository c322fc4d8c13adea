/**
 * Limits concurrent requests; organizations take turns. A slot is held until the response is made: sending it to a slow
 * client, or receiving a body, needs none.
 */
import type { Context, Middleware } from '#libs/base/http/context';
import { serializeBody } from '#libs/base/http/unread-responses';
import type { Slots } from '#libs/base/slots';
import { unavailable } from '#libs/base/terms/problem';
import { organizationIn } from './bearer.ts';
import { endOf } from './shared-slots.ts';

export const readInSlot =
  (reads: Slots): Middleware =>
  (ctx, next) => {
    const { res } = ctx;
    const isOver = () => res.writableEnded || res.destroyed;
    ctx.state.inSlot = (read) =>
      workInSlot(reads, ctx, async () => {
        if (isOver()) throw hasEnded();
        await read();
        // making the text of the response is work, too
        serializeBody(ctx);
      });
    return next();
  };

export const changeInSlot =
  (changes: Slots): Middleware =>
  (ctx, next) => {
    ctx.state.inSlot = (change) => workInSlot(changes, ctx, change);
    return next();
  };

/** Does work once the request's organization has a slot. Rejects once nobody waits for it any more. */
export async function workInSlot<T>(slots: Slots, ctx: Context, work: () => Promise<T>): Promise<T> {
  const { organizationId } = organizationIn(ctx);
  const leave = slots.tryTake(organizationId) ?? (await waitFor(slots, organizationId, ctx));
  try {
    return await work();
  } finally {
    leave();
  }
}

async function waitFor(slots: Slots, organizationId: string, ctx: Context): Promise<() => void> {
  const end = endOf(ctx);
  try {
    return await slots.take(organizationId, end);
  } catch (error) {
    if (end.aborted) throw hasEnded();
    throw unavailable('too many requests of your organization are waiting; try again', { cause: error });
  }
}

/** The deadline has passed, or the client has left. */
const hasEnded = () => unavailable('the request has ended before its turn', { elsewhere: true });
