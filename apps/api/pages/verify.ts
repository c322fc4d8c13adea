/** The page that checks proofs: one file, which people may also keep and open from disk. */
import { readFileSync } from 'node:fs';
import type { Middleware } from '#libs/base/http/context';
import { singlePageHeaders } from '#libs/base/http/security-headers';
import { eachTime, pack, sendPacked } from './send-packed.ts';

/** Path → handler. */
export function verifyPage({ build }: { build: URL }): Record<string, Middleware> {
  const content = readFileSync(new URL('verify/index.html', build));
  const file = pack(content);
  const headers = singlePageHeaders(policyIn(content.toString()));
  const page: Middleware = (ctx) => {
    ctx.set(headers);
    sendPacked(ctx, file, 'text/html; charset=utf-8', eachTime);
  };
  return { '/verify': page };
}

function policyIn(html: string): string {
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html) ?? [];
  if (!policy) throw new Error('the page that checks proofs was built without its policy');
  return policy;
}
