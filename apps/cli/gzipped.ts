/** Files whose names end in .gz are gzipped. What is written at once is a member of its own, so more can be added to a file. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

export const isGzip = (file: string): boolean => /\.gz$/i.test(file);

export const packedFor = async (file: string, text: string | Buffer): Promise<string | Buffer> =>
  isGzip(file) ? pack(text) : text;

/** By its content: it may have been packed, or unpacked, under its name. */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isPacked ? await unpack(bytes) : bytes).toString();
}
