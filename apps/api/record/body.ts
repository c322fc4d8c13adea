/** The body of a record: read as a JSON object of at most 16 KiB, then checked field by field. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type FieldError, Problem, unavailable } from '#libs/contract/problem';
import { compiledRecordBody, mapLimits, type RecordBody, tooMany } from '#libs/contract/record';
import type { Context } from '../http/context.ts';
import { parseOptions, refuseFields, toFieldErrors } from '../http/field-errors.ts';

export const bodyLimit = 16 * 1024;

/** No two adjacent parts match spaces, so that many spaces cannot cause catastrophic backtracking. */
const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?(?:;\s*)?$/i;

/** Whether a `Content-Type` is JSON in UTF-8. */
export const isJsonType = (type = ''): boolean => type === 'application/json' || jsonType.test(type);

export function readJsonObject(ctx: Context): Promise<Record<string, unknown>> {
  const headers = ctx.req.headers;
  if (!isJsonType(headers['content-type'])) {
    throw new Problem('unsupported_media_type', 'send Content-Type: application/json');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && !/^(identity)?$/i.test(encoding)) {
    throw new Problem('unsupported_media_type', 'send the body without Content-Encoding', {
      headers: { 'Accept-Encoding': 'identity' },
    });
  }
  if (Number(headers['content-length']) > bodyLimit) throw tooLarge(ctx.req);
  return readObject(ctx.req);
}

/** The rest of the body is read and dropped: closing the connection now could lose the answer. */
function tooLarge(request: IncomingMessage): Problem {
  request.resume();
  return new Problem('payload_too_large', `send at most ${bodyLimit} bytes`);
}

function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimit) {
        request.removeAllListeners('data');
        chunks.length = 0;
        reject(tooLarge(request));
      } else chunks.push(chunk);
    });
    request.on('end', () => {
      if (size > bodyLimit) return;
      try {
        resolve(parseObject(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', (error) => reject(isTooLate(error) ? tooLate() : cutOff()));
  });
}

/** The server's limit on the time for a whole request is over; see http/broken-requests.ts. */
const isTooLate = (error: NodeJS.ErrnoException): boolean => error.code === 'ERR_HTTP_REQUEST_TIMEOUT';

const tooLate = () => unavailable('the body did not arrive in time; try again', { headers: { Connection: 'close' } });
const cutOff = () => new Problem('invalid_json', 'the body ended before it was complete');

function parseObject(body: Buffer): Record<string, unknown> {
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

/** Without a byte order mark. */
function decode(body: Buffer): string {
  if (!isUtf8(body)) throw new Error('not UTF-8');
  const text = body.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function checkBody(given: Record<string, unknown>): RecordBody {
  const crowded = [...crowdedMap(given, 'preferences'), ...crowdedMap(given, 'metadata')];
  if (crowded.length > 0) throw refuseFields(crowded);
  const result = compiledRecordBody.safeParse(given, parseOptions);
  const unseen = prototypeNames(given);
  if (result.success && unseen.length === 0) return result.data;
  throw refuseFields([...unseen, ...toFieldErrors(result.error?.issues ?? [])]);
}

/** Checked first: thousands of entries, each with an error, would cost the time of hundreds of records. */
function crowdedMap(given: Record<string, unknown>, field: keyof typeof mapLimits): FieldError[] {
  const limit = mapLimits[field];
  const map = given[field];
  if (!isObject(map) || Object.keys(map).length <= limit) return [];
  return [{ path: `/${field}`, message: tooMany(limit) }];
}

/** zod drops a `__proto__` entry of a map silently, so it is looked for here. */
function prototypeNames({ preferences, metadata }: Record<string, unknown>): FieldError[] {
  const found: FieldError[] = [];
  if (namesPrototype(preferences)) found.push({ path: '/preferences/__proto__', message: 'is not an allowed name' });
  if (namesPrototype(metadata)) found.push({ path: '/metadata/__proto__', message: 'is not an allowed name' });
  return found;
}

const namesPrototype = (map: unknown): boolean => isObject(map) && Object.hasOwn(map, '__proto__');
