/**
 * The queues' page for operators. It shows payloads, so it is on the operations port only. It changes nothing: any site
 * that an operator visits could post forms to it. Failed jobs are retried by the command line.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Queue } from 'bullmq';
import Koa from 'koa';
import helmet from 'koa-helmet';

const pageHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      objectSrc: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // the operations port is without TLS
  strictTransportSecurity: false,
});

export function queuePages(queues: () => Queue[]): RequestListener {
  let page: RequestListener | undefined;
  // a queue exists only once Redis has been reached
  return (request, response) => {
    if (!isRead(request)) return void response.writeHead(403).end();
    if (!page && queues().length > 0) page = createPage(queues());
    if (page) page(request, response);
    else response.writeHead(503, { 'Content-Type': 'text/plain' }).end('Redis has not been reached yet\n');
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

function createPage(queues: Queue[]): RequestListener {
  const adapter = new KoaAdapter().setBasePath('/queues');
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Assent' } },
  });
  const app = new Koa();
  app.use(pageHeaders);
  // the page is made to fetch a font elsewhere; it does without
  app.use(async (ctx, next) => {
    await next();
    if (typeof ctx.body === 'string') ctx.body = ctx.body.replaceAll(/<link href="https:[^>]*>/g, '');
  });
  app.use(adapter.registerPlugin({ mount: '/queues' }));
  return app.callback();
}
