/** The refusal of a request whose fields or parameters break their rules. */
import { type FieldError, Problem } from '../terms/problem.ts';

export { parseOptions, pointer, toFieldErrors, unknownParameter } from '../terms/field-errors.ts';

/** Of a field that breaks several rules only the first is reported. */
export function refuseFields(broken: FieldError[]): Problem {
  const errors = [
    ...new Map([...broken].reverse().map((error) => [`${error.in} ${error.path}`, error])).values(),
  ].reverse();
  const [first] = errors;
  const detail = first ? `${first.path || 'the request'} ${first.message}` : 'the request is invalid';
  return new Problem('invalid_request', detail, { errors });
}
