import { inspect } from 'node:util';

/** A failure whose message tells the user what is wrong, and where possible what to do: shown without a stack. */
export class Advice extends Error {
  override name = 'Advice';
}

/** What went wrong, in its own words. */
export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a script prints when it fails: of anything but an Advice with its stack. */
export function explain(error: unknown): string {
  if (error instanceof Advice) return error.message;
  if (isDenied(error)) {
    return `${error.path} belongs to another user, perhaps from an earlier run: give it to this one, or remove .data and dist.`;
  }
  return inspect(error);
}

function isDenied(error: unknown): error is Error & { path: string } {
  if (!(error instanceof Error && 'code' in error && 'path' in error)) return false;
  return error.code === 'EACCES' || error.code === 'EPERM';
}
