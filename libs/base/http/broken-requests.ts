/** Incomplete requests and invalid HTTP; they too get one of the contract's errors. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem, unavailable } from '../terms/problem.ts';
import { newRequestId, problemType } from './exchange.ts';
import { isUpload } from './upload.ts';

/** An error of Node's parser, with the bytes that it failed on. */
type BrokenRequest = NodeJS.ErrnoException & { rawPacket?: Buffer };

function problemOf({ code }: BrokenRequest): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return unavailable('the request did not arrive in time; try again');
  const tooLarge = code === 'HPE_HEADER_OVERFLOW';
  return new Problem(
    'invalid_request',
    tooLarge ? 'the headers are larger than 16 KiB' : 'the request is not valid HTTP',
  );
}

export function answerBrokenRequests(server: Server): void {
  const last = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();
  server.on('request', (request, response) => last.set(request.socket, { request, response }));
  // Node would answer 417; an unknown expectation may be ignored (RFC 9110, 10.1.1)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  server.on('clientError', (error: BrokenRequest, socket: Duplex) => {
    const before = last.get(socket);
    // whoever reads it has a limit of its own
    if (before && isUpload(before.request) && error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return;
    // the request was refused before its body arrived, and the rest never arrived
    const isAnswered = before && !before.request.complete && before.response.headersSent;
    if (isAnswered || error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // whoever reads the body answers, with the headers that are set already
    const isRead = before && !before.request.complete && before.request.listenerCount('error') > 0;
    if (isRead && error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      before.request.emit('error', error);
      return;
    }
    const requestId = newRequestId();
    const problem = problemOf(error);
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
        // an answer to HEAD has no body; the client would take one for the next answer
        error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ' ? '' : body,
      ].join('\r\n'),
      () => socket.destroy(),
    );
  });
}
