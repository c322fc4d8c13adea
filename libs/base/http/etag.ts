/** `ETag`, `If-None-Match` for cached responses, and `If-Match` for things that can be changed. */
import { hash } from 'node:crypto';
import { Problem } from '../terms/problem.ts';
import type { Context } from './context.ts';

/** Whether the client has the current version (RFC 9110, 13.1.2). */
export const hasTag = (ctx: Context, etag: string): boolean =>
  tagsIn(ctx.get('if-none-match')).some((known) => known === '*' || known === asSent(etag));

const tagsIn = (header: string): string[] => header.split(',').map((tag) => asSent(tag.trim()));

/** A compressing proxy marks a tag as weak or adds the encoding: `W/"1"`, `"1-gzip"`, `"1;gzip"`, `"1--br"`. */
const asSent = (tag: string): string =>
  tag.replace(/^W\//, '').replace(/(?:(?:--?|;)(?:gzip|br|zstd|deflate))+(?="$)/, '');

export interface Versioned {
  /** grows with each change */
  version: number;
}

export const tagOf = ({ version }: Versioned): string => `"${version}"`;

/** A tag of everything that a response is made of. */
export const hashedTag = (seen: unknown[]): string =>
  `"${hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 22)}"`;

export const setVersion = (ctx: Context, found: Versioned): void => ctx.set('ETag', tagOf(found));

/** The version in `If-Match`; undefined if it is absent or `*`. Throws a 412 if it is another version. */
export function requiredVersion(ctx: Context, found: Versioned): number | undefined {
  const given = ctx.get('if-match');
  if (given === '' || given.trim() === '*') return undefined;
  if (!tagsIn(given).includes(tagOf(found))) throw changedMeanwhile();
  return found.version;
}

export const changedMeanwhile = () =>
  new Problem('changed_meanwhile', 'it was changed since you read it; read it again');
