/** The HTTP server: how long a client may take for each part of an exchange, and how many there may be. */
import { createServer, type RequestListener, type Server } from 'node:http';

/** Milliseconds. A body that comes too slowly is answered by the deadline of every request; this ends its connection. */
const timeouts = {
  headersTimeout: 3_500,
  requestTimeout: 5_500,
  connectionsCheckingInterval: 250,
  keepAliveTimeout: 65_000,
};
/** Milliseconds without a byte of an answer taken; a connection between two requests has `keepAliveTimeout`. */
const stalledAfter = 30_000;
/** Some 15 KB each while they are idle. */
const maxConnections = 20_000;

export function createHttpServer(listener: RequestListener, limits = { stalledAfter, maxConnections }): Server {
  // of headers that come twice Node would take the first, and a proxy perhaps the last
  const options = { ...timeouts, maxHeaderSize: 16 * 1024, requireHostHeader: false, joinDuplicateHeaders: true };
  const server = createServer(options, listener);
  // by default Node leaves out what is after the first thousand; 16 KiB are limit enough
  server.maxHeadersCount = 0;
  server.timeout = limits.stalledAfter;
  server.maxConnections = limits.maxConnections;
  return server;
}
