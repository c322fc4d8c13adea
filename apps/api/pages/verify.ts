/** The page that checks proofs: one file, which people may also keep and open from disk. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Middleware } from '../http/context.ts';
import { singlePageHeaders } from '../http/security-headers.ts';
import { sendPacked } from './send-packed.ts';

/** In a build it lies beside the compiled apps. */
const built = new URL('../../verify/index.html', import.meta.url);

/** Path → handler. */
export function verifyPage(): Record<string, Middleware> {
  const content = readFileSync(built);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const file = { content, zipped: gzipSync(content, { level: 9 }), hash };
  const headers = singlePageHeaders(policyIn(content.toString()));
  const page: Middleware = (ctx) => {
    ctx.set(headers);
    sendPacked(ctx, file, 'text/html; charset=utf-8', 'no-cache');
  };
  return { '/verify': page };
}

function policyIn(html: string): string {
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html) ?? [];
  if (!policy) throw new Error('the page that checks proofs was built without its policy');
  return policy;
}
