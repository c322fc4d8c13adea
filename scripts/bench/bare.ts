/** The reference: Koa alone, which answers the same POST and GET with as many bytes. Argument: the secret. */
import { createSecretKey } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import jsonwebtoken from 'jsonwebtoken';
import Koa from 'koa';
import { listen } from '../stack/ports.ts';

const at = '2026-11-20T10:33:43.172Z';
const receipt = { id: '01a1f884-ec04-7250-ab99-537bae10040b', status: 'queued', decidedAt: at, receivedAt: at };
const breakdown = { accept_all: 617_283, reject_all: 395_061, custom: 172_839, withdraw: 49_384 };
const range = { from: '2025-03-20', to: '2026-11-20' };
const stats = { domainId: 'dom_c4ca4238a0b923820dcc', ...range, total: 1_234_567, breakdown };
const given: { secret: string } = JSON.parse(process.argv[2] ?? '{}');
const secret = createSecretKey(given.secret, 'utf8');

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () =>
      resolve((chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString('utf8')),
    );
    request.on('error', reject);
  });
}

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method === 'GET') {
    const claims = jsonwebtoken.verify(ctx.get('authorization').slice('Bearer '.length), secret, {
      algorithms: ['HS256'],
    });
    ctx.status = typeof claims === 'object' ? 200 : 401;
    ctx.body = stats;
    return;
  }
  const body: unknown = JSON.parse(await readBody(ctx.req));
  ctx.status = typeof body === 'object' ? 202 : 400;
  ctx.body = receipt;
});

const port = await listen(createServer(app.callback()));
process.stdout.write(`${JSON.stringify({ port })}\n`);
