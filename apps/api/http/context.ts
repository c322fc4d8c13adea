/** One request, as every room sees it. Access adds to `State` what it finds out, in the files that find it out. */
import type Koa from 'koa';

export interface State {
  requestId: string;
  /** Unix milliseconds */
  receivedAt: number;
  /** the same moment on the process's monotonic clock, for deadlines */
  arrivedAt: number;
  /** set by an endpoint that is reached without the router */
  route?: string;
}

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** Checks or does one thing for a request; what it throws is the answer. */
export type Step = (ctx: Context) => Promise<void> | void;
