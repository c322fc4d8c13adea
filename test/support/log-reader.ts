/** Reads a domain's log from outside and verifies it, as an auditor would: over HTTP and with public keys only. */
import { createHash } from 'node:crypto';
import type { Checkpoint } from '#libs/proof/tree/checkpoint';
import { leafHash } from '#libs/proof/tree/hash';
import { openCheckpoint } from '#libs/proof/tree/tlog-proof';
import { formatTilePath, tileWidth, widthAt } from '#libs/proof/tree/tlog-tiles';
import { parseVerifierKey } from '#libs/proof/tree/verifier-key';
import { request, tokenFor } from './client.ts';
import { verifyEd25519 } from './log-vector.ts';
import { rootFromTiles, unpackBundle } from './proof-checks.ts';

export const sha256 = (input: Uint8Array): Uint8Array => createHash('sha256').update(input).digest();
export const crypto = { sha256, verifyEd25519 };

export interface LogAnswer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
}

export function createLogReader(baseUrl: string, organizationId: string, domainId: string) {
  const authorization = `Bearer ${tokenFor(organizationId)}`;

  const checked = new Set<string>();

  /** Below the domain: `log/key`. */
  const get = async (path: string, accept = '*/*'): Promise<LogAnswer> => {
    const target = `/v1/consent/${domainId}/${path}`;
    const headers = { authorization, accept };
    // the first of each kind is checked against the document
    const kind = path.replaceAll(/[\da-f]{2,}/g, '');
    if (!checked.has(kind)) await request(baseUrl, target, { headers });
    checked.add(kind);
    const response = await fetch(baseUrl + target, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
  };
  const ok = async (path: string, accept?: string): Promise<LogAnswer> => {
    const answer = await get(path, accept);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer;
  };

  const keys = async () =>
    (await ok('log/key')).text
      .trimEnd()
      .split('\n')
      .map((line) => parseVerifierKey(sha256, line));
  const checkpoint = async (): Promise<Checkpoint & { note: string }> => {
    const { text: note } = await ok('log/checkpoint');
    return { ...openCheckpoint(note, await keys(), verifyEd25519), note };
  };

  /** Of all hash tiles that a log of this size has, by `level/index`. */
  const tiles = async (size: number): Promise<Map<string, Buffer>> => {
    const found = new Map<string, Buffer>();
    for (let level = 0; widthAt(level, 0, size) > 0; level += 1) {
      for (let index = 0; widthAt(level, index, size) > 0; index += 1) {
        const path = formatTilePath({ level, index, width: widthAt(level, index, size) });
        found.set(`${level}/${index}`, (await ok(`log/tile/${path}`)).bytes);
      }
    }
    return found;
  };
  const rootOf = (size: number, from: Map<string, Buffer>) =>
    Buffer.from(rootFromTiles(sha256, size, (level, index) => from.get(`${level}/${index}`)));

  /** All entries of a log of this size, as texts. */
  const entries = async (size: number): Promise<string[]> => {
    const found: string[] = [];
    for (let index = 0; index * tileWidth < size; index += 1) {
      const path = formatTilePath({ level: 'entries', index, width: widthAt('entries', index, size) });
      const unpacked = unpackBundle((await ok(`log/tile/${path}`)).bytes);
      found.push(...unpacked.map((entry) => Buffer.from(entry).toString()));
    }
    return found;
  };
  const leafOf = (entry: string) => Buffer.from(leafHash(sha256, Buffer.from(entry)));

  return { get, ok, keys, checkpoint, tiles, rootOf, entries, leafOf };
}
