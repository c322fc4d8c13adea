/** The record endpoint takes floods: its steps follow one another, and only what takes time is waited for. */
import type { Context } from './context.ts';

/** Checks or does one thing for a request; what it throws is the answer. */
export type Step = (ctx: Context) => Promise<void> | void;

/** `onError` sees what a step threw. */
export const inTurn =
  (steps: Step[], onError: (ctx: Context, error: unknown) => void = () => {}): ((ctx: Context) => Promise<void>) =>
  async (ctx) => {
    try {
      for (const step of steps) {
        const pending = step(ctx);
        if (pending) await pending;
      }
    } catch (error) {
      onError(ctx, error);
      throw error;
    }
  };
