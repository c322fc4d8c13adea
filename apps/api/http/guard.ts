/** The guard: checks parameters against the contract and hands the handler typed values. */
import { z } from 'zod';
import { type FieldError, Problem } from '#libs/contract/problem';
import type { Context, Middleware } from './context.ts';

/** More parameters than any endpoint has; what is beyond them is not read. */
const maxParameters = 32;

interface Schemas<Params extends z.ZodType, Query extends z.ZodType> {
  params: Params;
  query: Query;
}

export function guard<Params extends z.ZodType, Query extends z.ZodType>(
  schemas: Schemas<Params, Query>,
  handler: (ctx: Context, given: { params: z.infer<Params>; query: z.infer<Query> }) => Promise<void> | void,
): Middleware {
  const [paramsOf, queryOf] = [z.compile(schemas.params), z.compile(schemas.query)];
  return async (ctx) => {
    if (!isDecodable(ctx.querystring)) throw new Problem('invalid_request', 'the query is not percent-encoded UTF-8');
    const { given, broken } = readQuery(ctx.querystring);
    const params = paramsOf.safeParse(ctx.params);
    const query = queryOf.safeParse(given);
    if (!params.success || !query.success || broken.length > 0) {
      const issues = [...(params.error?.issues ?? []), ...(query.error?.issues ?? [])];
      throw refuseFields([...broken, ...issues.flatMap(toFieldErrors)]);
    }
    await handler(ctx, { params: params.data, query: query.data });
  };
}

/** In one pass: Koa's own parser looks through all values of a name for each that is added. */
function readQuery(querystring: string): { given: Record<string, string>; broken: FieldError[] } {
  const given = new Map<string, string>();
  const broken: FieldError[] = [];
  let count = 0;
  // the `?` belongs to the address; without it a second one would be taken for it
  for (const [name, value] of new URLSearchParams(`?${querystring}`)) {
    count += 1;
    if (count > maxParameters) {
      broken.unshift({ path: '', message: `has more than ${maxParameters} query parameters` });
      break;
    }
    if (given.has(name)) broken.push({ path: pointer([name]), message: 'must be given once' });
    // zod does not see this one name
    else if (name === '__proto__') broken.push(unknownParameter(name));
    given.set(name, value);
  }
  return { given: Object.fromEntries(given), broken };
}

export const invalidRequest = (issues: z.core.$ZodIssue[]): Problem => refuseFields(issues.flatMap(toFieldErrors));

/** Of a field that breaks several rules only the first is told. */
export function refuseFields(broken: FieldError[]): Problem {
  const errors = [...new Map([...broken].reverse().map((error) => [error.path, error])).values()].reverse();
  const [first] = errors;
  const detail = first ? `${first.path || 'the request'} ${first.message}` : 'the request breaks a rule';
  return new Problem('invalid_request', detail, { errors });
}

function toFieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(unknownParameter);
  }
  return [{ path: pointer(issue.path), message: messageOf(issue) }];
}

function isDecodable(querystring: string): boolean {
  try {
    decodeURIComponent(querystring);
    return true;
  } catch {
    return false;
  }
}

const unknownParameter = (name: string): FieldError => ({
  path: pointer([name]),
  message: 'is not a parameter of this request',
});

/** RFC 6901 */
const pointer = (path: PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** zod's messages, where they would speak of its inner workings, in the words of the contract. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && /received undefined$/.test(issue.message)) return 'is required';
  if (issue.code === 'invalid_type') {
    if (/received array$/.test(issue.message) && issue.expected === 'string') return 'must be one string';
    return `must be ${issue.expected === 'int' ? 'a whole number' : `a ${issue.expected === 'record' ? 'map' : issue.expected}`}`;
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  if (issue.code === 'too_big')
    return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
  if (issue.code === 'too_small')
    return `must be at least ${issue.minimum}${issue.origin === 'string' ? ' characters' : ''}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'has a name that is not allowed';
  if (issue.code === 'invalid_union') return 'must be a string, a safe number or a boolean';
  return issue.message;
}
