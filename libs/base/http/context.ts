/** The context of a request. Files in access/ add the fields that they set to `State`. */
import { randomUUID } from 'node:crypto';
import type Koa from 'koa';
import type { RequestSpan } from '../ops/tracing.ts';

export interface State {
  requestId: string;
  /** Unix milliseconds */
  receivedAt: number;
  /** the same moment on the process's monotonic clock, for deadlines */
  arrivedAt: number;
  /** set by an endpoint that is reached without the router */
  route?: string;
  /** where the request is traced */
  trace?: RequestSpan | undefined;
}

/** Of a request that came without one: 16 hexadecimal digits, since a whole UUID would be carried through job, log and answer for nothing. */
export const newRequestId = (): string => randomUUID().slice(19).replace('-', '');

/** For log lines. */
export function traceOf(ctx: Context): { trace_id?: string } {
  const [origin] = ctx.state.trace?.origins() ?? [];
  return origin ? { trace_id: origin.span.traceId } : {};
}

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** One check or action for a request; what it throws becomes the answer. */
export type Step = (ctx: Context) => Promise<void> | void;
