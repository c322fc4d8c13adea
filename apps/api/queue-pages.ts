/** The queues' page for operators. It shows payloads, so it is on the operations port only. */
import type { RequestListener } from 'node:http';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Queue } from 'bullmq';
import Koa from 'koa';

export function queuePages(queues: () => Queue[]): RequestListener {
  let page: RequestListener | undefined;
  // a queue exists only once Redis has been reached
  return (request, response) => {
    if (!page && queues().length > 0) page = createPage(queues());
    if (page) page(request, response);
    else response.writeHead(503, { 'Content-Type': 'text/plain' }).end('Redis has not been reached yet\n');
  };
}

function createPage(queues: Queue[]): RequestListener {
  const adapter = new KoaAdapter().setBasePath('/queues');
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue)),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Assent' } },
  });
  const app = new Koa();
  // the page is made to fetch a font elsewhere; nothing leaves the operations port
  app.use(async (ctx, next) => {
    ctx.set('Content-Security-Policy', "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:");
    await next();
  });
  app.use(adapter.registerPlugin({ mount: '/queues' }));
  return app.callback();
}
