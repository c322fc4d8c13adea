/**
 * A request from arrival to response: its id, the checks that HTTP requires, errors, the metric, the span and the log line.
 * Incomplete and malformed requests get one of the contract's errors, too.
 */

import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BatcherFull, BatcherTimeout } from '../batcher.ts';
import { isUnavailable } from '../db/errors.ts';
import type { BaseMetrics } from '../ops/metrics.ts';
import type { Log } from '../ops/process-log.ts';
import type { Tracing } from '../ops/tracing.ts';
import { Problem, problems, unavailable } from '../terms/problem.ts';
import { dropRest, lastExchange } from './connection.ts';
import type { Context, Middleware } from './context.ts';
import { errorPage, errorPageHeaders } from './error-page.ts';
import { isUpload } from './upload.ts';

/** `home`: the dashboard's path. */
export function exchange(deps: {
  log: Log;
  metrics: BaseMetrics;
  tracing?: Tracing | undefined;
  home?: string;
}): Middleware {
  const respond = respondWithError(deps);
  const end = endRequest(deps);
  return async (ctx, next) => {
    beginRequest(ctx);
    if (deps.tracing) ctx.state.trace = deps.tracing.request(ctx.req.headers);
    let failure: unknown;
    try {
      checkRequest(ctx);
      await next();
      if (ctx.status === 404 && ctx.body == null) throw new Problem('not_found', 'this path does not exist');
    } catch (error) {
      failure = error;
      respond(ctx, error);
      if (isFault(ctx, error)) deps.metrics.faults.inc();
    }
    await dropRest(ctx);
    end(ctx, failure);
  };
}

const isFault = (ctx: Context, error: unknown): boolean =>
  ctx.status >= 500 && !(error instanceof Problem && error.elsewhere);

function checkRequest(ctx: Context): void {
  ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
  // HTTP/1.1 requires exactly one Host (RFC 9112, 3.2); several arrive joined by `, `. Checked here because Node's own
  // refusal has no body
  const { host } = ctx.req.headers;
  if (host === undefined ? ctx.req.httpVersion === '1.1' : host.includes(' ')) {
    throw new Problem('invalid_request', 'exactly one Host header is required');
  }
  if (!ctx.url.startsWith('/')) ctx.url = pathOf(ctx.url);
  const { headers } = ctx.req;
  for (const name of ['accept', 'accept-encoding'] as const)
    if ((headers[name]?.length ?? 0) > longestPreference) delete headers[name];
}

/**
 * Characters: browsers send less than a third of it, and comparing thousands of types takes as long as a hundred requests.
 */
const longestPreference = 1_000;

/** The absolute form must be accepted (RFC 9112, 3.2.2), but Koa fails on some of its hosts. */
function pathOf(target: string): string {
  const [origin] = /^https?:\/\/[^/?#]+/i.exec(target) ?? [];
  if (!origin) throw new Problem('invalid_request', 'the request has no path');
  const path = target.slice(origin.length);
  return path.startsWith('/') ? path : `/${path}`;
}

/** milliseconds */
const slow = 1_000;

function beginRequest(ctx: Context): void {
  const given = ctx.req.headers['x-request-id'];
  const isUsable = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given);
  const requestId = isUsable ? given : newRequestId();
  ctx.state = {
    requestId,
    receivedAt: Date.now(),
    arrivedAt: performance.now(),
  };
  ctx.res.setHeader('X-Request-Id', requestId);
}

/** For a request without an id: 16 hexadecimal digits. Job, log and response carry it, so it is shorter than a UUID. */
const newRequestId = (): string => randomUUID().slice(19).replace('-', '');

function traceOf(ctx: Context): { trace_id?: string } {
  const [origin] = ctx.state.trace?.origins() ?? [];
  return origin ? { trace_id: origin.span.traceId } : {};
}

/** The store's error, if there is one. The client does not see it. */
function reasonOf(failure: unknown): string | undefined {
  const error = failure instanceof Problem ? (failure.cause ?? failure) : failure;
  if (!(error instanceof Error)) return undefined;
  // if the connection was refused at several addresses, there is only the code
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** The route's pattern; `none` if no route matched. */
const routeOf = (ctx: Context): string => String(ctx.state.route ?? ctx._matchedRoute ?? 'none');

/** Called once the response is known. */
function endRequest({ log, metrics }: { log: Log; metrics: BaseMetrics }): (ctx: Context, failure: unknown) => void {
  return (ctx, failure) => {
    const duration = performance.now() - ctx.state.arrivedAt;
    const route = routeOf(ctx);
    metrics.requests.observe({ route, method: ctx.method, status: ctx.status }, duration / 1000);
    ctx.state.trace?.end({ route, method: ctx.method, status: ctx.status });
    // a refused flood must not flood the log
    if (ctx.status >= 500 || (duration > slow && ctx.status !== 429)) {
      const { requestId } = ctx.state;
      const { method, status } = ctx;
      const reason = reasonOf(failure);
      log.warn(
        { requestId, ...traceOf(ctx), route, method, status, reason, duration: Math.round(duration) },
        'slow or failed request',
      );
    }
  };
}

const problemType = 'application/problem+json';

/** A Problem is sent as it is; any other error becomes a 500 without details. */
function respondWithError({ log, home = '/' }: { log: Log; home?: string }): (ctx: Context, error: unknown) => void {
  return (ctx, error) => {
    const problem = toProblem(error);
    // Problems are logged where they are thrown
    if (problem.code === 'internal_error' && problem !== error)
      log.error({ event: 'bug', err: error, requestId: ctx.state.requestId, ...traceOf(ctx) }, 'unexpected error');
    ctx.status = problem.status;
    ctx.set(problem.headers);
    const body = problem.body(ctx.state.requestId);
    const isPage = prefersPage(ctx);
    if (isPage) ctx.set(errorPageHeaders);
    ctx.body = isPage ? errorPage(body, home) : JSON.stringify(body);
    ctx.type = isPage ? 'html' : problemType;
  };
}

/** A browser's address bar prefers a page; the API always returns JSON. */
function prefersPage(ctx: Context): boolean {
  if (!ctx.url.startsWith('/') || ctx.url.startsWith('/v1')) return false;
  ctx.vary('Accept');
  return ctx.accepts(problemType, 'json', 'html') === 'html';
}

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) return unavailable('the database is not available; try again', { cause: error });
  if (error instanceof BatcherFull) return unavailable('too many requests are waiting; try again', { cause: error });
  if (error instanceof BatcherTimeout) return unavailable('the response took too long; try again', { cause: error });
  return new Problem('internal_error', problems.internal_error.title, { cause: error });
}

/** An error of Node's parser, with the bytes that it failed on. */
type BrokenRequest = NodeJS.ErrnoException & { rawPacket?: Buffer };

function problemOfBroken({ code }: BrokenRequest): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return unavailable('the request did not arrive in time; try again');
  const tooLarge = code === 'HPE_HEADER_OVERFLOW';
  return new Problem(
    'invalid_request',
    tooLarge ? 'the headers are larger than 16 KiB' : 'the request is not valid HTTP',
  );
}

/** Responds to what the router never sees: incomplete and malformed requests. */
export function handleBrokenRequests(server: Server): void {
  // Node would send 417; an unknown expectation may be ignored (RFC 9110, 10.1.1)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  server.on('clientError', (error: BrokenRequest, socket: Duplex) => {
    // browsers and load balancers open connections ahead; the server's `timeout` closes one that stays unused
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket instanceof Socket && socket.bytesRead === 0) return;
    const before = lastExchange(socket);
    // uploads have a time limit of their own
    if (before && isUpload(before.request) && error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return;
    // the error concerns a later request, which may only be late because it was not read meanwhile
    if (before?.request.complete && !before.response.writableFinished && error.code !== 'ECONNRESET') {
      before.response.once('close', () => socket.destroy());
      return;
    }
    // the request was refused before its body arrived, and the rest never arrived
    const hasResponded = before && !before.request.complete && before.response.headersSent;
    if (hasResponded || error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // the reader of the body responds, with the headers that are set already
    const isRead = before && !before.request.complete && before.request.listenerCount('error') > 0;
    if (isRead && error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      before.request.emit('error', error);
      return;
    }
    const requestId = newRequestId();
    const problem = problemOfBroken(error);
    const body = JSON.stringify(problem.body(requestId));
    socket.end(
      [
        `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
        `Content-Type: ${problemType}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
        'X-Content-Type-Options: nosniff',
        `X-Request-Id: ${requestId}`,
        ...Object.entries(problem.headers).map(([name, value]) => `${name}: ${value}`),
        'Connection: close',
        '',
        // a response to HEAD has no body: the client would take it for the next response
        error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ' ? '' : body,
      ].join('\r\n'),
      () => socket.destroy(),
    );
  });
}
