/** What a Postgres error means for the caller, by SQLSTATE (Postgres manual, appendix A). */
import postgres from 'postgres';
import { TimedOut } from '#libs/runtime/within';

const stateOf = (error: unknown): string | undefined =>
  error instanceof postgres.PostgresError ? error.code : undefined;

/** Two batches waited for each other, or a serializable transaction lost: the same statement succeeds when sent again. */
export const isDeadlock = (error: unknown): boolean => ['40P01', '40001'].includes(stateOf(error) ?? '');

/** No partition for the row: a check violation by its code, known by where in the server it arose, in any language. */
export const isMissingMonth = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '23514' && error.routine === 'ExecFindPartition';

/** The row itself is at fault (data exception, integrity violation): sending it again cannot help. */
export const isBadData = (error: unknown): boolean => /^2[23]/.test(stateOf(error) ?? '') && !isMissingMonth(error);

/** A table, column, type or function that is not there: the database was not migrated, or not yet. */
export const isSchemaMissing = (error: unknown): boolean =>
  ['42P01', '42703', '42704', '42883'].includes(stateOf(error) ?? '');

/**
 * Postgres is away or not able now, and may be later: no connection, shutting down, out of resources, disk full,
 * a timeout, a standby that does not write, or a schema that waits for its migration.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof TimedOut) return true;
  if (isSchemaMissing(error)) return true;
  const state = stateOf(error);
  if (state) return /^(08|28|3D|40|53|55|57|58)/.test(state) || state === '25006';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(E[A-Z]+|CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED|CONNECT_TIMEOUT))$/.test(code);
}
