import { inspect } from 'node:util';

/** A failure whose message explains the problem and, if possible, what to do. It is shown without a stack. */
export class Advice extends Error {
  override name = 'Advice';
}

/** An error's message. */
export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a script prints when it fails: with a stack only for unexpected errors. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  const { code = '', path = '' } = error as NodeJS.ErrnoException;
  // the parser's own message for an unknown option is good enough
  if (error instanceof Advice || code.startsWith('ERR_PARSE_ARGS')) return error.message;
  if (path && ['EACCES', 'EPERM'].includes(code))
    return `${path} belongs to another user, perhaps from an earlier run: give it to this one, or remove .data and dist.`;
  return inspect(error);
}

/** Parses an option's value. `name`: such as `--records` */
export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new Advice(`${name} is a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
}
