/** The migrations of this build, and whether the database has them all. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { within } from '#libs/runtime/within';
import { isSchemaMissing } from './errors.ts';
import type { Database } from './sql.ts';

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));

/** Oldest first. Read once: a later build in the same folder may bring more, which this process does not need. */
export const versions = readdirSync(migrationsFolder)
  .map((file) => file.replace(/_.*/, ''))
  .sort();

/**
 * `old`: migrations of this build are missing; `unknown`: Postgres did not say, within `patience` milliseconds. That is no
 * deadline of `run`, which takes silence for lost connections and gives up all that is under way.
 */
export async function lookAtSchema(
  db: Pick<Database, 'run'>,
  patience: number,
): Promise<'current' | 'old' | 'unknown'> {
  try {
    const answer = db.run((sql) => sql<{ version: string }[]>`select version from schema_migrations`);
    const rows = await within(patience, answer);
    const applied = new Set(rows.map(({ version }) => version));
    return versions.every((version) => applied.has(version)) ? 'current' : 'old';
  } catch (error) {
    return isSchemaMissing(error) ? 'old' : 'unknown';
  }
}
