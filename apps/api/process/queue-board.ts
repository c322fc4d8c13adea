/** The page that shows the queues and their jobs, and lets nobody change them. */
import type { RequestListener } from 'node:http';
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

export function queueBoard(queues: Queue[]): RequestListener {
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
