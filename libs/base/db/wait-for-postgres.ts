/** Waits for a Postgres that is still starting, as in containers that all start at once. */
import postgres from 'postgres';
import { within } from '../timers.ts';

/** milliseconds */
const pause = 500;

export interface Waiting {
  /** in milliseconds */
  patience: number;
  /** called once, if it has to wait */
  say: (line: string) => void;
}

/** Resolves once the server accepts statements. Rejects at once if it refuses the password or the database. */
export async function waitForPostgres(sql: postgres.Sql, { patience, say }: Waiting): Promise<void> {
  const end = performance.now() + patience;
  for (let isLogged = false; ; isLogged = true) {
    try {
      // if something accepts connections and ends them, as a proxy may, the driver retries forever
      await within(Math.max(1, Math.round(end - performance.now())), sql`select`.simple());
      return;
    } catch (error) {
      if (!isAway(error) || performance.now() + pause > end) throw error;
      if (!isLogged) say(`Postgres does not respond yet, waiting for up to ${patience / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/**
 * No server, no name or socket yet, or a server that is starting (57P03). A server without the TLS that the address asks
 * for is not away.
 */
function isAway(error: unknown): boolean {
  if (error instanceof Error && error.message.includes('before secure TLS connection was established')) return false;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof postgres.PostgresError) return code === '57P03';
  return /^(ECONNREFUSED|ENOENT|ECONNRESET|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|CONNECT_TIMEOUT|CONNECTION_CLOSED)$/.test(
    code,
  );
}
