/**
 * Checks parameters and body against the contract and passes typed values to the handler. The handler takes its concurrency
 * slot only after the body has been read, because a slow client must not occupy a slot.
 */
import { z } from 'zod';
import { withoutSlot } from '../slots.ts';
import { parseOptions, pointer, refuseFields, toFieldErrors, unknownParameter } from '../terms/field-errors.ts';
import { type FieldError, Problem } from '../terms/problem.ts';
import { readFields } from './body.ts';
import type { Context, Middleware } from './context.ts';
import type { BodyOf, ParamsOf, QueryOf, Route } from './routes.ts';

/** More than any endpoint has; further parameters are not read. */
const maxParameters = 32;

interface Guarded {
  params?: z.ZodType;
  query?: z.ZodType;
  body?: { schema: z.ZodType; bytes?: number };
}

const noParams = z.object({});
const noQuery = z.strictObject({});

/** `row`: an endpoint's row, or the same fields. */
export function guard<const R extends Guarded | Route>(
  row: R,
  handler: (ctx: Context, given: { params: ParamsOf<R>; query: QueryOf<R>; body: BodyOf<R> }) => Promise<void> | void,
): Middleware;
export function guard(
  row: Guarded,
  handler: (ctx: Context, given: { params: unknown; query: unknown; body: unknown }) => Promise<void> | void,
): Middleware {
  const [paramsOf, queryOf] = [z.compile(row.params ?? noParams), z.compile(row.query ?? noQuery)];
  return async (ctx) => {
    if (!isDecodable(ctx.querystring)) throw new Problem('invalid_request', 'the query is not percent-encoded UTF-8');
    const { given, broken } = readQuery(ctx.querystring);
    const params = paramsOf.safeParse(ctx.params);
    const query = queryOf.safeParse(given);
    if (!params.success || !query.success || broken.length > 0) {
      // the messages are only made for invalid requests: they double the time of parsing
      const inPath = paramsOf.safeParse(ctx.params, parseOptions).error?.issues ?? [];
      const inQuery = queryOf.safeParse(given, parseOptions).error?.issues ?? [];
      const inBoth = [...toFieldErrors(inPath, 'path'), ...toFieldErrors(inQuery, 'query')];
      throw refuseFields([...broken.map((each) => ({ ...each, in: 'query' as const })), ...inBoth]);
    }
    const body = row.body && (await readFields(ctx, row.body.schema, row.body.bytes));
    const { inSlot = withoutSlot } = ctx.state;
    await inSlot(async () => handler(ctx, { params: params.data, query: query.data, body }));
  };
}

/** In one pass: Koa's parser takes quadratic time for many values of one name. */
function readQuery(querystring: string): { given: Record<string, string>; broken: FieldError[] } {
  const given = new Map<string, string>();
  const broken: FieldError[] = [];
  let count = 0;
  // URLSearchParams strips one leading `?`: without ours it would strip the caller's
  for (const [name, value] of new URLSearchParams(`?${querystring}`)) {
    count += 1;
    if (count > maxParameters) {
      broken.unshift({ path: '', message: `has more than ${maxParameters} query parameters` });
      break;
    }
    if (given.has(name)) broken.push({ path: pointer([name]), message: 'must be given once' });
    // zod silently drops this one name
    else if (name === '__proto__') broken.push(unknownParameter(name));
    given.set(name, value);
  }
  return { given: Object.fromEntries(given), broken };
}

/** The router leaves invalid percent-encoding as it is; here it is refused. `name`: the parameter that contains it. */
export function requireDecodable(path: string, name: string): void {
  if (isDecodable(path)) return;
  const message = 'is not percent-encoded UTF-8';
  throw new Problem('invalid_request', `/${name} ${message}`, { errors: [{ path: `/${name}`, in: 'path', message }] });
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
