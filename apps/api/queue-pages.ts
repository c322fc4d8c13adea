/**
 * The queues' page for operators. It shows payloads, so it is only served on the operations port. It is read-only, since any
 * site that an operator visits could post a form to it. Failed jobs are retried on the command line.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Queue } from 'bullmq';
import type { createQueueBoard } from './queue-board.ts';

/** `queues`: the known queues; rejects if Redis does not respond. */
export function queuePages(queues: () => Promise<Queue[]>): RequestListener {
  let board: Promise<ReturnType<typeof createQueueBoard>> | undefined;
  const fail = (response: ServerResponse, status: number, text: string) =>
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
  return (request, response) => {
    if (!isRead(request)) return void response.writeHead(403).end();
    // loaded on first use: it takes 11 MB, and blocks the process for a while
    board ??= import('./queue-board.ts').then((loaded) => loaded.createQueueBoard());
    board.then(
      (show) =>
        queues().then(
          (known) => show(known, request, response),
          () => fail(response, 503, 'Redis does not respond\n'),
        ),
      () => fail(response, 500, 'failed\n'),
    );
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
