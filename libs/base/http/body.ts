/**
 * Reads a request's body: its type and encoding from the headers (RFC 9110, 8.3), and JSON objects of at most 16 KiB. Also
 * whether the client wants its mistakes refused or corrected.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { parseOptions, refuseFields, toFieldErrors } from '../terms/field-errors.ts';
import { Problem, unavailable } from '../terms/problem.ts';
import { isMostlyOverhead } from './connection.ts';
import type { Context } from './context.ts';

interface MediaType {
  /** in lower case, without parameters */
  type: string;
  /** as sent; absent if no charset is given */
  charset?: string | undefined;
}

/** Undefined if the header is invalid or has several charsets. Takes time linear in its length. */
export function parseMediaType(header = ''): MediaType | undefined {
  const [type = '', ...parameters] = sentOnce(header)
    .split(';')
    .map((part) => part.trim());
  const charsets = parameters.flatMap((parameter) => {
    const at = parameter.indexOf('=');
    if (at === -1 || parameter.slice(0, at).trim().toLowerCase() !== 'charset') return [];
    return [
      parameter
        .slice(at + 1)
        .trim()
        .replaceAll('"', ''),
    ];
  });
  if (new Set(charsets.map((each) => each.toLowerCase())).size > 1) return undefined;
  return { type: type.toLowerCase(), charset: charsets[0] || undefined };
}

/** If a header was sent twice with the same value, which Node joins with a comma, returns the value once. */
function sentOnce(header: string): string {
  const [first = '', ...others] = header.split(',').map((part) => part.trim());
  return others.every((other) => other === first) ? first : header;
}

/** Whether text in this encoding can be read as UTF-8: any label of UTF-8, or ASCII, which is a subset. */
export const isUtf8Charset = (charset = 'utf-8'): boolean =>
  /^(?:utf-?8|(?:us-)?ascii)$/i.test(charset) || encodingOf(charset) === 'utf-8';

/** The encoding of a label in the WHATWG Encoding Standard; undefined for an unknown label. */
export function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** Throws a 415 for a compressed body. Some clients put the charset into `Content-Encoding`, which compresses nothing. */
export function requireUncompressed(encoding: string | undefined): void {
  if (encoding === undefined || /^(?:identity|utf-?8)?$/i.test(encoding)) return;
  throw new Problem('unsupported_media_type', 'send the body without Content-Encoding', {
    headers: { 'Accept-Encoding': 'identity' },
  });
}

const bodyLimit = 16 * 1024;
/** chunks of a body that are kept apart */
const mostChunks = 64;

/** Throws a 415 unless the `Content-Type` is JSON in UTF-8. Other parameters are ignored. */
export function requireJson(header: string | undefined): void {
  if (header === 'application/json') return;
  const { type = '', charset } = parseMediaType(header) ?? {};
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    throw new Problem('unsupported_media_type', 'send Content-Type: application/json');
  }
  if (!isUtf8Charset(charset)) throw new Problem('unsupported_media_type', 'send the body in UTF-8');
}

export const readJsonObject = async (ctx: Context, limit?: number): Promise<Record<string, unknown>> =>
  parseObject(await readJsonBody(ctx, limit));

/** As `readJsonObject`, but the body and its type may be left out. */
export async function readOptionalObject(ctx: Context): Promise<Record<string, unknown>> {
  const { 'content-length': length, 'transfer-encoding': encoding } = ctx.req.headers;
  const isLeftOut = encoding === undefined && (length === undefined || length === '0');
  return isLeftOut ? {} : readJsonObject(ctx);
}

/** Throws a 400 that lists the fields which break the schema's rules. */
export async function readFields<Body extends z.ZodType>(
  ctx: Context,
  schema: Body,
  limit?: number,
): Promise<z.infer<Body>> {
  const read = schema.safeParse(await readJsonObject(ctx, limit), parseOptions);
  if (read.success) return read.data;
  throw refuseFields(toFieldErrors(read.error.issues));
}

/** `limit`: bytes */
export function readJsonBody(ctx: Context, limit = bodyLimit): Promise<Buffer> {
  const headers = ctx.req.headers;
  requireJson(headers['content-type']);
  requireUncompressed(headers['content-encoding']);
  if (Number(headers['content-length']) > limit) throw tooLarge(limit);
  return readBytes(ctx.req, limit);
}

const tooLarge = (limit: number): Problem => new Problem('payload_too_large', `send at most ${limit} bytes`);
export const tooSmallChunks = (): Problem => new Problem('payload_too_large', 'send the body in larger chunks');

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (problem: Problem) => {
      request.removeAllListeners('data').pause();
      chunks.length = 0;
      reject(problem);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      // a chunk takes far more memory than its bytes
      if (chunks.length === mostChunks) chunks.splice(0, mostChunks, Buffer.concat(chunks));
      if (size > limit) refuse(tooLarge(limit));
      else if (isMostlyOverhead(request, size)) refuse(tooSmallChunks());
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', (error) => reject(isTooLate(error) ? tooLate() : cutOff()));
  });
}

/** The server's time limit for a whole request is over; see exchange.ts. */
const isTooLate = (error: NodeJS.ErrnoException): boolean => error.code === 'ERR_HTTP_REQUEST_TIMEOUT';

const tooLate = () =>
  unavailable('the body did not arrive in time; try again', { headers: { Connection: 'close' }, elsewhere: true });
const cutOff = () => new Problem('invalid_json', 'the body ended before it was complete');

export function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(decode(body));
  } catch (error) {
    throw new Problem('invalid_json', body.length === 0 ? 'the body is empty' : 'the body is not JSON in UTF-8', {
      cause: error,
    });
  }
  if (!isObject(value)) throw new Problem('invalid_json', 'the body must be a JSON object');
  return value;
}

/** Removes the byte order mark. */
function decode(body: Buffer): string {
  if (!isUtf8(body)) throw new Error('not UTF-8');
  const text = body.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether mistakes are refused instead of corrected, as in tests of an integration: `Prefer: handling=strict` (RFC 7240).
 * Adds the header `Preference-Applied`.
 */
export function wantsStrict({ req, res }: Context): boolean {
  const { prefer } = req.headers;
  if (prefer === undefined || !isStrict(String(prefer))) return false;
  res.setHeader('Preference-Applied', 'handling=strict');
  return true;
}

/**
 * The first `handling` counts. Takes time linear in the length of the header, because anybody with a page's key can send
 * it.
 */
export function isStrict(prefer: string): boolean {
  const preferences = prefer.replaceAll(/"[^"]*"/g, (quoted) => (/[,;]/.test(quoted) ? '""' : quoted)).split(',');
  const handling = preferences
    .map((each) => (each.split(';')[0] ?? '').split('='))
    .find(([name = '']) => name.trim().toLowerCase() === 'handling');
  return handling?.[1]?.trim().replaceAll('"', '').toLowerCase() === 'strict';
}
