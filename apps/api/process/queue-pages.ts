/**
 * The queues' page for operators. It shows payloads, so it is served on the operations port only. It is read-only: any
 * site that an operator visits could post a form to it. Failed jobs are retried from the command line.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Queue } from 'bullmq';
import type { createQueueBoard } from './queue-board.ts';

/** `queues`: those that are known now; rejects where Redis does not answer. */
export function queuePages(queues: () => Promise<Queue[]>): RequestListener {
  let board: Promise<ReturnType<typeof createQueueBoard>> | undefined;
  const fail = (response: ServerResponse, status: number, text: string) =>
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
  return (request, response) => {
    if (!isRead(request)) return void response.writeHead(403).end();
    // loaded on first use: it takes 11 MB
    board ??= import('./queue-board.ts').then((loaded) => loaded.createQueueBoard());
    const shown = board;
    queues().then(
      (known) =>
        shown.then(
          (show) => show(known, request, response),
          () => fail(response, 500, 'failed\n'),
        ),
      () => fail(response, 503, 'Redis does not answer\n'),
    );
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
