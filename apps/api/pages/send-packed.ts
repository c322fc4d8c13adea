/** Files held in memory, plain and gzipped: sent once, and then only if they changed. */
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

/** What a cache asks for each time, and what it never asks for again. */
export const eachTime = 'no-cache';
/** What websites load first thing: at once from a cache that has it, which asks afterwards whether it has changed. */
export const atOnce = 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800';
export const forEver = 'public, max-age=31536000, immutable';

const smallest = { level: 9 };
const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

export const pack = (content: Uint8Array): PackedFile => ({
  content,
  zipped: gzipSync(content, smallest),
  hash: hashOf(content),
});

/** For what few processes are ever asked for: made with the first request, off the main thread, and then kept. */
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

/** Of `file`, which may make them only when they are wanted, one of the two is read. */
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
  // shared by all responses: a copy would be memory for as long as its client does not read
  ctx.body = Buffer.from(buffer, byteOffset, byteLength);
}
