/**
 * The queues' page for operators. It shows payloads, so it is served on the operations port only. It is read-only: any
 * site that an operator visits could post a form to it. Failed jobs are retried from the command line.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Queue } from 'bullmq';

export function queuePages(queues: () => Queue[]): RequestListener {
  let board: Promise<RequestListener> | undefined;
  const fail = (response: ServerResponse, status: number, text: string) =>
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
  return (request, response) => {
    if (!isRead(request)) return void response.writeHead(403).end();
    // a queue exists only once Redis has been reached
    if (queues().length === 0) return void fail(response, 503, 'Redis has not been reached yet\n');
    // loaded on first use: it takes 11 MB
    board ??= import('./queue-board.ts').then(({ queueBoard }) => queueBoard(queues()));
    board.then(
      (show) => show(request, response),
      () => fail(response, 500, 'failed\n'),
    );
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
