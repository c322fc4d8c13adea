/** The context of a request. Fields of `State` are declared where they are set. */
import type Koa from 'koa';
import type { RequestSpan } from '../ops/tracing.ts';

export interface State {
  requestId: string;
  /** Unix milliseconds */
  receivedAt: number;
  /** the same moment on the monotonic clock, for deadlines */
  arrivedAt: number;
  /** set by an endpoint that is reached without the router */
  route?: string;
  /** set by the `limits` of the row: after reading the request, the guard runs the handler in this slot */
  inSlot?: (work: () => Promise<void>) => Promise<void>;
  /** if the request is traced */
  trace?: RequestSpan | undefined;
}

/** Koa's own parser takes seconds for thousands of values of one name, so the guard parses queries. */
interface NoQuery extends Koa.DefaultContext {
  query: never;
}

export type Context = Koa.ParameterizedContext<State, NoQuery>;
export type Middleware = Koa.Middleware<State, NoQuery>;

/** One check or action of a request; an error it throws becomes the response. */
export type Step = (ctx: Context) => Promise<void> | void;
