/** Files held in memory, plain and gzipped: sent once, and then only if they changed. */
import type { Context } from '../http/context.ts';

export interface PackedFile {
  hash: string;
  content: Uint8Array;
  zipped: Uint8Array;
}

export function sendPacked(ctx: Context, { hash, content, zipped }: PackedFile, type: string, caching: string): void {
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  const etag = isZipped ? `"${hash}-gzip"` : `"${hash}"`;
  ctx.set({ 'Cache-Control': caching, Vary: 'Accept-Encoding', ETag: etag });
  // Koa's `fresh` ignores If-None-Match if the request has Cache-Control: no-cache, which is meant for caches
  if (knows(ctx.get('if-none-match'), etag)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  if (isZipped) ctx.set('Content-Encoding', 'gzip');
  ctx.body = Buffer.from(isZipped ? zipped : content);
}

/** RFC 9110, 13.1.2: a list, each possibly marked as weak. */
const knows = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((known) => ['*', etag, `W/${etag}`].includes(known.trim()));
