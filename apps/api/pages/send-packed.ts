/** Files in memory, plain and gzipped. They are sent only if the client lacks the current version. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Context } from '#libs/base/http/context';
import { hasTag } from '#libs/base/http/etag';

export interface PackedFile {
  hash: string;
  content: Uint8Array;
  zipped: Uint8Array;
}

/** For caches that revalidate each time. */
export const revalidate = 'no-cache';
/** For files that websites load first: a cache returns them at once and revalidates afterwards. */
export const atOnce = 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800';
export const immutable = 'public, max-age=31536000, immutable';

const smallest = { level: 9 };
const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

export const pack = (content: Uint8Array): PackedFile => ({
  content,
  zipped: gzipSync(content, smallest),
  hash: hashOf(content),
});

/** For files that most processes never serve: read on the first request, compressed off the main thread, then kept. */
export function packWhenAsked(read: () => Uint8Array): () => Promise<PackedFile> {
  const make = async (): Promise<PackedFile> => {
    const content = read();
    return { content, zipped: await promisify(gzip)(content, smallest), hash: hashOf(content) };
  };
  let made: Promise<PackedFile> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** `file` may create its two variants lazily, so only one of them is read. */
export function sendPacked(ctx: Context, file: PackedFile, type: string, caching: string): void {
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  const etag = isZipped ? `"${file.hash}-gzip"` : `"${file.hash}"`;
  ctx.set({ 'Cache-Control': caching, Vary: 'Accept-Encoding', ETag: etag });
  // Koa's `fresh` ignores If-None-Match if the request has Cache-Control: no-cache, which is meant for caches
  if (hasTag(ctx, etag)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  if (isZipped) ctx.set('Content-Encoding', 'gzip');
  const { buffer, byteOffset, byteLength } = isZipped ? file.zipped : file.content;
  // shared by all responses: a copy would use memory until a slow client has read it
  ctx.body = Buffer.from(buffer, byteOffset, byteLength);
}
