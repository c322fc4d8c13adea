/**
 * What a connection has in progress: one request. Node hands over every request that has arrived, however many a client
 * sends ahead, and would buffer all their responses; here they wait for their turn, and beyond a few the client is cut off.
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
  /** the request in progress, or the one before */
  last: Exchange;
  /** requests that arrived while another one was in progress */
  held: Exchange[];
  /** Nothing more is read of it. */
  isStopped: boolean;
  /** bytes that had been read when the response before was sent */
  readBefore: number;
}

/** Requests that a client may send ahead. */
const mostHeld = 16;
/** Bytes of a request that are not its body, beside a quarter of the body: headers are at most 16 KiB. */
const overhead = 64 * 1024;
/** Bytes of an unwanted body that are read so that its client reads the response, and milliseconds until the end. */
const dropped = 64 * 1024;
const lingersFor = 500;

const connections = new WeakMap<Duplex, Connection>();

export const lastExchange = (socket: Duplex): Exchange | undefined => connections.get(socket)?.last;

/**
 * Calls the listener for the next request of a connection once the response to the one before is sent, in a later turn.
 * After `end`, the next response ends its connection, also that of a request in progress.
 */
export const oneAtATime = (listener: RequestListener): { listener: RequestListener; end: () => void } => {
  const busy = new Set<Connection>();
  let isEnding = false;
  const begin = (connection: Connection, exchange: Exchange): void => {
    const { request, response } = exchange;
    // the connection ends with the response before
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
  const take: RequestListener = (request, response) => {
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
  return { listener: take, end };
};

/** Its client would not see the responses to what it has sent ahead. */
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
  // Node resumes it for the rest of a body, also of one that has arrived already
  socket.on('resume', () => {
    if (connection.held.length === 0 && !connection.isStopped) return;
    socket.pause();
    // to Node it is paused already, but for its handle
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
 * Whether hardly anything of what the client sends is its body: each chunk costs as much, however small. `size`: bytes of
 * the body that have been read.
 */
export function isMostlyOverhead(request: IncomingMessage, size: number): boolean {
  const { socket, readableLength } = request;
  const before = connections.get(socket)?.readBefore ?? 0;
  return socket.bytesRead - before - size - readableLength > overhead + size / 4;
}

const hasMoreToCome = ({ headers, complete }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0);

/** Ends the connection after the response, if the client may still be sending a body that nobody wants. */
export async function dropRest({ req, res }: Context): Promise<void> {
  if (!hasMoreToCome(req)) return;
  // what came with the headers is parsed by then
  await setImmediate();
  if (hasMoreToCome(req)) drop(req, res);
}

/** A little of the body is read, since a client whose writes fail may not read its response. */
function drop(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  endAfter(response);
  // after a response that says so Node closes both ways, and the client's system drops the response as its writes fail
  socket.destroySoon = () => void socket.end();
  request.removeAllListeners('readable').removeAllListeners('data');
  request.on('error', () => {});
  const before = socket.bytesRead;
  request.on('data', () => {
    if (socket.bytesRead - before > dropped) stopReading(socket);
  });
  // otherwise Node reads on by itself, without end
  request.read(0);
  request.resume();
  response.once('close', () => {
    const end = () => void socket.destroy();
    if (request.complete) return end();
    request.once('end', end);
    setTimeout(end, lingersFor).unref();
  });
}
