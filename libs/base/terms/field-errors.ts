/** What is wrong with each field, in the contract's words, and the refusal that lists it. */
import type { z } from 'zod';
import { type FieldError, Problem } from './problem.ts';

/** Messages for rules without one in the schema, as zod's parse functions take them. */
export const parseOptions = { error: messageOf };

function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  const inCharacters = 'origin' in issue && issue.origin === 'string' ? ' characters' : '';
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      if (issue.expected === 'string' && Array.isArray(issue.input)) return 'must be one string';
      return `must be ${kinds[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${inCharacters}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${inCharacters}`;
    case 'invalid_union':
      return 'must be a string, a safe number or a boolean';
    default:
      return undefined;
  }
}

const kinds: Record<string, string> = { int: 'a whole number', record: 'a map', object: 'a map', array: 'a list' };

/** `place`: where in the request the fields are; undefined: in its body. */
export function toFieldErrors(issues: z.core.$ZodIssue[], place?: FieldError['in']): FieldError[] {
  const where = place && { in: place };
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => ({ ...unknownParameter(name), ...where }));
    // for an invalid key of a map, the message is that of the key's own rule
    const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
    return [{ path: pointer(issue.path), ...where, message: message ?? issue.message }];
  });
}

export const unknownParameter = (name: string): FieldError => ({
  path: pointer([name]),
  message: 'is not a known parameter',
});

/** RFC 6901 */
export const pointer = (path: PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** For a request with invalid fields or parameters. Only the first error of each field is reported. */
export function refuseFields(broken: FieldError[]): Problem {
  const errors = [
    ...new Map([...broken].reverse().map((error) => [`${error.in} ${error.path}`, error])).values(),
  ].reverse();
  const [first] = errors;
  const detail = first ? `${first.path || 'the request'} ${first.message}` : 'the request is invalid';
  return new Problem('invalid_request', detail, { errors });
}
