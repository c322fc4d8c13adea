/** The context of a request. Who sets a field of `State` adds it where it is set. */
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
  /** set by the `limits` of its row: the guard has the handler do its work in it, once the request is read */
  inPlace?: (work: () => Promise<void>) => Promise<void>;
  /** where the request is traced */
  trace?: RequestSpan | undefined;
}

/** Koa's own parser takes seconds for thousands of values of one name: the guard reads queries. */
interface NoQuery extends Koa.DefaultContext {
  query: never;
}

export type Context = Koa.ParameterizedContext<State, NoQuery>;
export type Middleware = Koa.Middleware<State, NoQuery>;

/** One check or action for a request; what it throws becomes the answer. */
export type Step = (ctx: Context) => Promise<void> | void;
