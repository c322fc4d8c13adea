/** The reference: Koa alone, which reads and parses the same body and answers the same bytes. */
import Koa from 'koa';

const receipt = {
  id: '01a1f884-ec04-7250-ab99-537bae10040b',
  status: 'queued',
  decidedAt: '2026-11-20T10:33:43.172Z',
  receivedAt: '2026-11-20T10:33:43.172Z',
};

const app = new Koa();
app.use(async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  ctx.status = typeof body === 'object' ? 202 : 400;
  ctx.body = receipt;
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
