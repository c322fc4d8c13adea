/** The HTTP server: its timeouts, its limit on connections, and its shutdown. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { within } from '../timers.ts';
import { oneAtATime } from './connection.ts';

/** Milliseconds. exchange.ts responds to a request that is incomplete by then, within the contract's 5 s. */
const timeouts = {
  headersTimeout: 3_500,
  requestTimeout: 4_500,
  connectionsCheckingInterval: 250,
  keepAliveTimeout: 65_000,
};
/**
 * Milliseconds in which a client neither reads its response nor sends its first request. Between two requests
 * `keepAliveTimeout` applies.
 */
const stalledAfter = 30_000;
/** Milliseconds within which every request gets its response. */
const responseTime = 5_000;
/** An idle connection takes about 15 KB. */
const mostConnections = 20_000;
/** Files reserved for stores, logs and the process itself. */
const spareFiles = 200;

/**
 * How many connections this process accepts; each is an open file. `isLowered`: whether `openFiles`, the system's limit,
 * lowers it.
 */
export function connectionLimit(openFiles = openFilesLimit()): { connections: number; isLowered: boolean } {
  const connections = Math.max(1, Math.min(mostConnections, openFiles - spareFiles));
  return { connections, isLowered: connections < mostConnections };
}

/** Infinity if the system does not report it. */
function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Makes each response of a server close its connection. */
const endings = new WeakMap<Server, () => void>();

export function createHttpServer(
  listener: RequestListener,
  limits = { stalledAfter, maxConnections: connectionLimit().connections },
): Server {
  // Node would use the first value of a repeated header, a proxy perhaps the last: joined, neither is trusted
  const options = { ...timeouts, maxHeaderSize: 16 * 1024, requireHostHeader: false, joinDuplicateHeaders: true };
  const exchanges = oneAtATime(listener);
  const server = createServer(options, exchanges.listener);
  endings.set(server, exchanges.end);
  // by default Node drops headers after the first thousand; here only the 16 KiB limit counts
  server.maxHeadersCount = 0;
  server.timeout = limits.stalledAfter;
  server.maxConnections = limits.maxConnections;
  return server;
}

/**
 * Responds to every open request and asks its client to reconnect, which then reaches another process. Connections that are
 * still open after `drain` milliseconds are idle and are closed. A request that arrives on one at that moment is lost, so a
 * proxy must close idle connections sooner.
 */
export async function closeServer(server: Server, drain: number): Promise<void> {
  endings.get(server)?.();
  const end = performance.now() + drain;
  while (performance.now() < end && (await countConnections(server)) > 0) await setTimeout(20);
  const last = performance.now() + responseTime;
  await acceptWaiting(server, last);
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  // by then every complete request has its response
  await within(last - performance.now(), closed).catch(() => server.closeAllConnections());
}

/**
 * Accepts the connections that wait in the kernel's queue, since closing the port would reset them. A busy process has
 * some. Each turn of the event loop accepts one, so the first turn that accepts none has seen the last.
 */
async function acceptWaiting(server: Server, end: number): Promise<void> {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  await setImmediate();
  for (let before = -1; accepted > before && performance.now() < end; await setImmediate()) before = accepted;
}

const countConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
