/** Files that the process holds in memory, plain and packed: sent once, and then only when they changed. */
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
  // Koa's own `fresh` sends it all again on a request's Cache-Control: no-cache, which is a word to caches on the way
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
