/** A Postgres that is still starting, as in containers, where all begin at once. */
import postgres from 'postgres';
import { within } from '../timers.ts';

/** milliseconds */
const pause = 500;

export interface Waiting {
  /** in milliseconds */
  patience: number;
  /** told once, if it has to wait */
  say: (line: string) => void;
}

/** Resolves once the server takes statements. A password or database that it refuses rejects at once. */
export async function untilAnswers(sql: postgres.Sql, { patience, say }: Waiting): Promise<void> {
  const end = performance.now() + patience;
  for (let told = false; ; told = true) {
    try {
      // where something accepts connections and ends them, as a proxy may, the driver tries for ever
      await within(Math.max(1, Math.round(end - performance.now())), sql`select`.simple());
      return;
    } catch (error) {
      if (!isAway(error) || performance.now() + pause > end) throw error;
      if (!told) say(`Postgres does not answer yet, waiting for up to ${patience / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** No server, no name or socket for it yet, or one that starts (57P03). One without the TLS that the address wants is there. */
function isAway(error: unknown): boolean {
  if (error instanceof Error && error.message.includes('before secure TLS connection was established')) return false;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof postgres.PostgresError) return code === '57P03';
  return /^(ECONNREFUSED|ENOENT|ECONNRESET|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|CONNECT_TIMEOUT|CONNECTION_CLOSED)$/.test(
    code,
  );
}
