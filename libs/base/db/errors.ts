/** Classifies Postgres errors by SQLSTATE (Postgres manual, appendix A). */
import postgres from 'postgres';
import { TimedOut } from '../timers.ts';

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

const stateOf = (error: unknown): string | undefined =>
  error instanceof postgres.PostgresError ? error.code : undefined;

/** The server, or a pooler before it, refused or ended the connection: no statement and no row is to blame. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && ['FATAL', 'PANIC'].includes(error.severity ?? error.severity_local);

/** The certificate that Postgres shows does not satisfy the address (codes of OpenSSL and Node). */
const isUntrusted = (error: unknown): boolean =>
  /^(?!ERR_SSL_)(.*CERT|UNABLE_TO_|HOSTNAME_|INVALID_)/.test(codeOf(error));

/** TLS itself failed, such as where both sides have no version of it in common, or there is none. */
const isOfTls = (error: unknown): boolean => /^ERR_(SSL|TLS)_/.test(codeOf(error));

/**
 * A pooler that does not track prepared statements led to a connection that lacks this one, or has another of that name.
 */
const isOfPreparedStatement = (error: unknown): boolean => ['26000', '42P05'].includes(stateOf(error) ?? '');

/** A deadlock or a serialization failure: the same statement succeeds when retried. */
export const isDeadlock = (error: unknown): boolean => ['40P01', '40001'].includes(stateOf(error) ?? '');

/** The statement, or its wait for a lock, took longer than it may: somebody else was in the way. */
export const isBlocked = (error: unknown): boolean => ['57014', '55P03'].includes(stateOf(error) ?? '');

/** The statement took longer than the server lets it take: Postgres is slow, or one of the rows is. */
export const isTooSlow = (error: unknown): boolean => stateOf(error) === '57014';

/**
 * The server is up and sent an ordinary error, not one that says it is starting, stopping, too slow or unreachable behind a
 * pooler.
 */
export const isAnswer = (error: unknown): boolean => {
  const state = stateOf(error);
  return state !== undefined && !/^(08|57)/.test(state);
};

/** No partition for the row. A check violation has the same code, but comes from another routine of the server. */
export const isMissingMonth = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '23514' && error.routine === 'ExecFindPartition';

/** Out of transaction ids: nothing is stored until a vacuum. The same code also means that a row is too large. */
const isOutOfIds = (error: unknown): boolean =>
  error instanceof postgres.PostgresError &&
  error.code === '54000' &&
  /^GetNew(TransactionId|MultiXactId)$/.test(error.routine ?? '');

/** Postgres is there and stores nothing: its disk is full or fails, it is read-only, or out of transaction ids. */
export const isNothingStored = (error: unknown): error is Error =>
  isOutOfIds(error) || ['25006', '53100', '58030'].includes(stateOf(error) ?? '');

/** The row itself is at fault (data exception, integrity violation): retrying cannot help. */
export const isBadData = (error: unknown): boolean =>
  /^2[23]/.test(stateOf(error) ?? '') && !isMissingMonth(error) && !isOfConnection(error);

/** A missing table, column, type or function: the database has not been migrated yet. */
export const isSchemaMissing = (error: unknown): boolean =>
  ['42P01', '42703', '42704', '42883'].includes(stateOf(error) ?? '') && !isOfConnection(error);

/** The login may not do that: its rights come with its role, from `assent migrate`. */
export const isForbidden = (error: unknown): boolean => stateOf(error) === '42501' && !isOfConnection(error);

/**
 * Postgres is unavailable for now: no connection, no TLS or a certificate that is not trusted, a pooler that is not set up,
 * shutting down, out of resources or of transaction ids, disk full, a timeout, a read-only standby, a schema that has not
 * been migrated yet, or a login without the rights for it.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof TimedOut) return true;
  if (isSchemaMissing(error) || isForbidden(error) || isOfConnection(error) || isOfPreparedStatement(error))
    return true;
  if (isOutOfIds(error)) return true;
  const state = stateOf(error);
  if (state) return /^(08|28|3D|40|53|55|57|58)/.test(state) || state === '25006';
  const isLost = /^(E[A-Z]+|CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED|CONNECT_TIMEOUT))$/.test(codeOf(error));
  return isLost || isUntrusted(error) || isOfTls(error);
}

/**
 * `outage`: the statement fails with any rows; `slow`: it took longer than the server lets it take; `row`: one of its rows
 * is refused; `unknown`: one of its rows may be to blame.
 */
export type Fault = 'outage' | 'slow' | 'row' | 'unknown';

export function faultOf(error: unknown): Fault {
  if (isTooSlow(error)) return 'slow';
  if (isUnavailable(error)) return 'outage';
  return isBadData(error) ? 'row' : 'unknown';
}

export const isOutage = (error: unknown): boolean => faultOf(error) === 'outage';

export interface Failure {
  fault: Fault;
  error: unknown;
}

/** Undefined where the work succeeds. */
export const failureOf = (work: () => Promise<unknown>): Promise<Failure | undefined> =>
  work().then(
    () => undefined,
    (error) => ({ fault: faultOf(error), error }),
  );

/** Returns the error. Where a setting is to blame, its message says which. */
export function advise<T>(error: T): T {
  const advice = adviceOn(error);
  // connections that fail together have one error
  if (advice && error instanceof Error && !error.message.endsWith(advice))
    error.message = `${error.message.trimEnd()}: ${advice}`;
  return error;
}

function adviceOn(error: unknown): string | undefined {
  if (codeOf(error) === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'there is no TLS at the address of Postgres';
  if (isUntrusted(error)) return 'this is no certificate that sslmode and sslrootcert of the address allow';
  if (isOfPreparedStatement(error)) return 'behind this pooler set DATABASE_PREPARE=false';
  if (isForbidden(error)) return 'assent migrate grants what the roles of API and worker need';
  return undefined;
}
