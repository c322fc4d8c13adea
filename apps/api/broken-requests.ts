/** Requests that are not valid HTTP never reach Koa; they get the contract's error all the same. */
import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '#libs/contract/problem';
import { problemType } from './middleware/problem.ts';

const details: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not arrive in time',
  HPE_HEADER_OVERFLOW: 'the headers are larger than 16 KiB',
};

export function answerBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const problem = new Problem('invalid_request', details[error.code ?? ''] ?? 'the request is not valid HTTP');
    const body = JSON.stringify(problem.body(requestId));
    socket.end(
      [
        `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
        `Content-Type: ${problemType}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
        `X-Request-Id: ${requestId}`,
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
      () => socket.destroy(),
    );
  });
}
