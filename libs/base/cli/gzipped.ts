/** Files whose names end in .gz are gzipped. Each write is a gzip member of its own, so a file can be appended to. */
import { open, readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip, gzip } from 'node:zlib';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

export const isGzip = (file: string): boolean => /\.gz$/i.test(file);

export const packedFor = async (file: string, text: string | Buffer): Promise<string | Buffer> =>
  isGzip(file) ? pack(text) : text;

/** By content, since a file may have been compressed or uncompressed without a new name. */
const isPacked = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file);
  return (isPacked(bytes) ? await unpack(bytes) : bytes).toString();
}

/** Whether a regular file is gzipped. A pipe can be read only once, so it is taken as it is. */
export async function isPackedFile(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    if (!(await handle.stat()).isFile()) return false;
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return isPacked(buffer);
  } finally {
    await handle.close();
  }
}

export const unpackedOf = (bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
  pipeline(bytes, createGunzip(), () => {});
