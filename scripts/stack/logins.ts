/** The logins of API and worker on a private Postgres: `migrate` makes them, and neither may do more than it needs. */
import { createHash } from 'node:crypto';

export type App = 'api' | 'worker';

/** Its address: the password of the database's owner makes its own, so that nobody has to keep it. */
export function loginAt(databaseUrl: string, app: App): string {
  const url = new URL(databaseUrl);
  url.password = createHash('sha256').update(`${app} ${url.password}`).digest('hex').slice(0, 48);
  url.username = `assent_${app}_login`;
  return url.toString();
}

/** What `migrate` makes them from. */
export const loginsAt = (databaseUrl: string) => ({
  DATABASE_API_URL: loginAt(databaseUrl, 'api'),
  DATABASE_WORKER_URL: loginAt(databaseUrl, 'worker'),
});
