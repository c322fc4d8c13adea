/**
 * Handles one request of a connection at a time. Node passes on every request that has arrived, however many the client
 * pipelines, and would buffer all responses. Here they wait, and a client that pipelines too many is disconnected.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Context } from './context.ts';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  isBusy: boolean;
  /** the request in progress, or the previous one */
  last: Exchange;
  /** requests that arrived while another one was in progress */
  held: Exchange[];
  /** nothing more is read from it */
  isStopped: boolean;
  /** bytes that had been read when the previous response was sent */
  readBefore: number;
}

/** How many requests a client may pipeline. */
const mostHeld = 16;
/**
 * How many bytes a request may have on top of its body and a quarter of the body's size. Headers take at most 16 KiB of
 * them.
 */
const overhead = 64 * 1024;
/**
 * How many bytes of an unwanted body we still read, and for how many milliseconds. A client whose writes fail may not read
 * the response.
 */
const dropped = 64 * 1024;
const lingersFor = 500;

const connections = new WeakMap<Duplex, Connection>();

export const lastExchange = (socket: Duplex): Exchange | undefined => connections.get(socket)?.last;

/**
 * Calls the listener for the next request of a connection after the previous response was sent, in a later turn of the
 * event loop. After `end`, each connection closes with its next response, which may be that of a request in progress.
 */
export const oneAtATime = (listener: RequestListener): { listener: RequestListener; end: () => void } => {
  const busy = new Set<Connection>();
  let isEnding = false;
  const begin = (connection: Connection, exchange: Exchange): void => {
    const { request, response } = exchange;
    // the connection closes with the previous response
    if (!request.socket.writable) return;
    connection.isBusy = true;
    connection.last = exchange;
    busy.add(connection);
    if (isEnding) endAfterLast(connection);
    response.once('close', () => {
      busy.delete(connection);
      connection.readBefore = request.socket.bytesRead;
      if (connection.held.length > 0) void setImmediate(connection).then(beginHeld);
      else connection.isBusy = false;
    });
    listener(request, response);
  };
  const beginHeld = (connection: Connection): void => {
    const next = connection.held.shift();
    if (!next) return;
    if (connection.held.length === 0) next.request.socket.resume();
    begin(connection, next);
  };
  const enqueue: RequestListener = (request, response) => {
    const { socket } = request;
    const exchange = { request, response };
    const connection = connections.get(socket) ?? open(exchange);
    if (!connection.isBusy) begin(connection, exchange);
    else if (!socket.destroyed) hold(connection, exchange);
  };
  const end = () => {
    isEnding = true;
    busy.forEach(endAfterLast);
  };
  return { listener: enqueue, end };
};

/** With requests waiting it stays open: the client would not see the responses to them. */
function endAfterLast({ last, held }: Connection): void {
  if (held.length === 0) endAfter(last.response);
}

function endAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function open(exchange: Exchange): Connection {
  const { socket } = exchange.request;
  const connection: Connection = { isBusy: false, last: exchange, held: [], isStopped: false, readBefore: 0 };
  connections.set(socket, connection);
  // Node resumes the socket for the rest of a body, even if that has arrived already
  socket.on('resume', () => {
    if (connection.held.length === 0 && !connection.isStopped) return;
    socket.pause();
    // Node's stream may already count as paused, and then `pause()` emits nothing. Emit the event, because it makes Node
    // stop reading from the handle.
    socket.emit('pause');
  });
  return connection;
}

function stopReading(socket: Duplex): void {
  const connection = connections.get(socket);
  if (connection) connection.isStopped = true;
  socket.pause();
}

function hold({ held }: Connection, exchange: Exchange): void {
  const { socket } = exchange.request;
  held.push(exchange);
  if (held.length > mostHeld) {
    held.length = 0;
    socket.destroy();
  } else socket.pause();
}

/**
 * Whether the client sends hardly any body: a chunk costs the same however small it is. `size`: bytes of the body read so
 * far.
 */
export function isMostlyOverhead(request: IncomingMessage, size: number): boolean {
  const { socket, readableLength } = request;
  const before = connections.get(socket)?.readBefore ?? 0;
  return socket.bytesRead - before - size - readableLength > overhead + size / 4;
}

const hasMoreToCome = ({ headers, complete }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0);

/** Closes the connection after the response if the client may still be sending an unwanted body. */
export async function dropRest({ req, res }: Context): Promise<void> {
  if (!hasMoreToCome(req)) return;
  // after this, what arrived with the headers is parsed
  await setImmediate();
  if (hasMoreToCome(req)) drop(req, res);
}

/** Reads a little of the body, because a client whose writes fail may not read its response. */
function drop(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  endAfter(response);
  // after `Connection: close` Node closes both directions; the client's system then drops the response as its writes fail
  socket.destroySoon = () => void socket.end();
  request.removeAllListeners('readable').removeAllListeners('data');
  request.on('error', () => {});
  const before = socket.bytesRead;
  request.on('data', () => {
    if (socket.bytesRead - before > dropped) stopReading(socket);
  });
  // otherwise Node continues reading by itself, without a limit
  request.read(0);
  request.resume();
  response.once('close', () => {
    const end = () => void socket.destroy();
    if (request.complete) return end();
    request.once('end', end);
    setTimeout(end, lingersFor).unref();
  });
}
