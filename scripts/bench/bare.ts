/**
 * The reference: Koa alone. POST reads and parses the same body and answers the same bytes as a record's receipt; GET
 * verifies the same access token and answers as many bytes as statistics have. With a Redis a POST is answered once its
 * body is safe there, which is the least that a receipt has to wait for: one SET of all bodies that came while the one
 * before was on its way. Its one argument is a `Bare`.
 */
import { createSecretKey } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Redis } from 'ioredis';
import jsonwebtoken from 'jsonwebtoken';
import Koa from 'koa';
import { Batcher } from '#libs/runtime/batcher';

export interface Bare {
  /** of access tokens */
  secret: string;
  redisUrl?: string;
}

const receipt = {
  id: '01a1f884-ec04-7250-ab99-537bae10040b',
  status: 'queued',
  decidedAt: '2026-11-20T10:33:43.172Z',
  receivedAt: '2026-11-20T10:33:43.172Z',
};
const stats = {
  domainId: 'dom_c4ca4238a0b923820dcc',
  from: '2025-03-20',
  to: '2026-11-20',
  total: 1_234_567,
  breakdown: { accept_all: 617_283, reject_all: 395_061, custom: 172_839, withdraw: 49_384 },
};
const given = JSON.parse(process.argv[2] ?? '{}') as Bare;
const secret = createSecretKey(given.secret, 'utf8');
const redis = given.redisUrl === undefined ? undefined : new Redis(given.redisUrl);
const safe =
  redis &&
  new Batcher<Buffer, unknown>({
    run: (bodies) => redis.set('bare', Buffer.concat(bodies)),
    maxBatch: 400,
    maxPending: 100_000,
  });

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method === 'GET') {
    const token = ctx.get('authorization').slice('Bearer '.length);
    const claims = jsonwebtoken.verify(token, secret, { algorithms: ['HS256'] });
    ctx.status = typeof claims === 'object' ? 200 : 401;
    ctx.body = stats;
    return;
  }
  const sent = await readBody(ctx.req);
  const body: unknown = JSON.parse(sent.toString('utf8'));
  await safe?.add(sent);
  ctx.status = typeof body === 'object' ? 202 : 400;
  ctx.body = receipt;
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
