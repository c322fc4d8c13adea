/**
 * The usual design, as most would build it and with equal care: one BullMQ job per record, and for each job one INSERT
 * and one set of HINCRBY. The API: Koa and its router, the same compiled zod schema for the body, the key's hash looked
 * up in memory, the job's options and the answer as in Assent. What Assent does beyond that (CORS, rate limits, logs,
 * metrics, deadlines, a way around a lost Redis) is left out, which is to this design's advantage. Left as they are
 * because they gave nothing here: ioredis' automatic pipelining (adds of one turn share a write anyway).
 * Its one argument says where the stores are.
 */
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import Koa from 'koa';
import { compiledRecordBody } from '#libs/contract/record';
import { makeIdAt, timeOf } from '#libs/contract/uuid';
import { hashApiKey } from '#libs/store/tenants/tenants';
import type { Site } from '../bodies.ts';
import { type UsualRecord, usualQueue } from './tables.ts';

export interface UsualApi {
  redisUrl: string;
  sites: Site[];
}

const { redisUrl, sites } = JSON.parse(process.argv[2] ?? '{}') as UsualApi;

const keys = new Map(sites.map((site) => [hashApiKey(site.apiKey), site]));
const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
const queue = new Queue<UsualRecord>(usualQueue.name, {
  connection,
  prefix: usualQueue.prefix,
  defaultJobOptions: { attempts: 5, backoff: { type: 'exponential', delay: 1_000 }, stackTraceLimit: 3 },
});
await queue.waitUntilReady();

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

const router = new Router();
router.post('/v1/consent/:domainId/record', async (ctx) => {
  const site = keys.get(hashApiKey(ctx.get('x-api-key')));
  if (!site || site.domainId !== ctx.params.domainId) return ctx.throw(401);
  const checked = compiledRecordBody.safeParse(JSON.parse((await readBody(ctx.req)).toString('utf8')));
  if (!checked.success) return ctx.throw(400);
  const body = checked.data;
  const now = Date.now();
  const id = body.id ?? makeIdAt(now);
  const receivedAt = new Date(now).toISOString();
  await queue.add('record', {
    ...body,
    id,
    domainId: site.domainId,
    organizationId: site.organizationId,
    receivedAt,
    source: body.source ?? 'banner',
    ip: ctx.ip.replace(/^::ffff:/, '').replace(/\.\d+$/, '.0'),
    userAgent: ctx.get('user-agent'),
  });
  ctx.status = 202;
  ctx.body = { id, status: 'queued', decidedAt: new Date(timeOf(id)).toISOString(), receivedAt };
});

const app = new Koa();
app.use(router.routes());
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
