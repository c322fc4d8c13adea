/** The HTTP server: timeouts for each part of an exchange, the limit on connections, and its end. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { within } from '../timers.ts';
import { oneAtATime } from './connection.ts';

/** Milliseconds. A request that has begun and is not complete by then is answered in exchange.ts, within the contract's 5 s. */
const timeouts = {
  headersTimeout: 3_500,
  requestTimeout: 4_500,
  connectionsCheckingInterval: 250,
  keepAliveTimeout: 65_000,
};
/**
 * Milliseconds in which a client reads nothing of its answer, or asks for nothing yet; between two requests
 * `keepAliveTimeout` applies.
 */
const stalledAfter = 30_000;
/** Milliseconds within which every request is answered. */
const answerTime = 5_000;
/** An idle connection takes about 15 KB. */
const mostConnections = 20_000;
/** Files that are left for stores, logs and the process itself. */
const spareFiles = 200;

/**
 * Connections that this process takes, each of which is an open file to the system. `isLowered`: by `openFiles`, the limit
 * on these.
 */
export function connectionLimit(openFiles = openFilesLimit()): { connections: number; isLowered: boolean } {
  const connections = Math.max(1, Math.min(mostConnections, openFiles - spareFiles));
  return { connections, isLowered: connections < mostConnections };
}

/** Infinity where the system does not say. */
function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** What has each response of a server end its connection. */
const endings = new WeakMap<Server, () => void>();

export function createHttpServer(
  listener: RequestListener,
  limits = { stalledAfter, maxConnections: connectionLimit().connections },
): Server {
  // of a repeated header Node would use the first value, a proxy perhaps the last: joined, neither is trusted
  const options = { ...timeouts, maxHeaderSize: 16 * 1024, requireHostHeader: false, joinDuplicateHeaders: true };
  const exchanges = oneAtATime(listener);
  const server = createServer(options, exchanges.listener);
  endings.set(server, exchanges.end);
  // by default Node drops headers after the first thousand; 16 KiB is the limit here
  server.maxHeadersCount = 0;
  server.timeout = limits.stalledAfter;
  server.maxConnections = limits.maxConnections;
  return server;
}

/**
 * Answers every open request. Each answer tells its client to reconnect, which then reaches another process; connections
 * that are still open after `drain` milliseconds are idle and are closed. A request that arrives on one at that moment is
 * lost, so a proxy must keep idle connections for less than that.
 */
export async function closeServer(server: Server, drain: number): Promise<void> {
  endings.get(server)?.();
  const end = performance.now() + drain;
  while (performance.now() < end && (await countConnections(server)) > 0) await setTimeout(20);
  const last = performance.now() + answerTime;
  await takeWaiting(server, last);
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  // by then every complete request has been answered
  await within(last - performance.now(), closed).catch(() => server.closeAllConnections());
}

/**
 * The connections that the kernel has taken and this process has not: closing the port would reset them, and in a process
 * that gets little time there are some. A turn of the loop takes one, so the first that takes none has seen the last.
 */
async function takeWaiting(server: Server, end: number): Promise<void> {
  let taken = 0;
  server.on('connection', () => {
    taken += 1;
  });
  await setImmediate();
  for (let before = -1; taken > before && performance.now() < end; await setImmediate()) before = taken;
}

const countConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
