/** The HTTP server: timeouts for each part of an exchange, and the limit on connections. */
import { createServer, type RequestListener, type Server } from 'node:http';

/** Milliseconds. A request that is not complete by then is answered in broken-requests.ts, within the contract's 5 s. */
const timeouts = {
  headersTimeout: 3_500,
  requestTimeout: 4_500,
  connectionsCheckingInterval: 250,
  keepAliveTimeout: 65_000,
};
/** Milliseconds in which a client reads nothing of its answer; between two requests `keepAliveTimeout` applies. */
const stalledAfter = 30_000;
/** An idle connection takes about 15 KB. */
const maxConnections = 20_000;

export function createHttpServer(listener: RequestListener, limits = { stalledAfter, maxConnections }): Server {
  // of a repeated header Node would use the first value, a proxy perhaps the last: joined, neither is trusted
  const options = { ...timeouts, maxHeaderSize: 16 * 1024, requireHostHeader: false, joinDuplicateHeaders: true };
  const server = createServer(options, listener);
  // by default Node drops headers after the first thousand; 16 KiB is the limit here
  server.maxHeadersCount = 0;
  server.timeout = limits.stalledAfter;
  server.maxConnections = limits.maxConnections;
  return server;
}
