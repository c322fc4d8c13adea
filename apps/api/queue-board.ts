/** The queues' page, read-only. */
import type { RequestListener } from 'node:http';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Queue } from 'bullmq';
import Koa from 'koa';
import type { State } from '#libs/base/http/context';
import { pageHeaders } from '#libs/base/http/security-headers';

const headers = pageHeaders({
  'default-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'object-src': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
});

export function createQueueBoard() {
  const adapter = new KoaAdapter().setBasePath('/queues');
  const { replaceQueues } = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Assent' } },
  });
  const app = new Koa<State>();
  app.use(headers);
  // the page would load a font from another site
  app.use(async (ctx, next) => {
    await next();
    if (typeof ctx.body === 'string') ctx.body = ctx.body.replaceAll(/<link href="https:[^>]*>/g, '');
  });
  app.use(adapter.registerPlugin({ mount: '/queues' }));
  const response = app.callback();
  return (queues: Queue[], ...exchange: Parameters<RequestListener>): void => {
    replaceQueues(queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })));
    void response(...exchange);
  };
}
