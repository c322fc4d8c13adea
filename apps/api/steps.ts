/** The record endpoint takes floods: its steps follow one another, and only what takes time is waited for. */
import type { Context } from './context.ts';

/** Checks or does one thing for a request; what it throws is the answer. */
export type Step = (ctx: Context) => Promise<void> | void;

export const inTurn =
  (...steps: Step[]): ((ctx: Context) => Promise<void>) =>
  async (ctx) => {
    for (const step of steps) {
      const pending = step(ctx);
      if (pending) await pending;
    }
  };
