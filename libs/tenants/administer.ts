import type { Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import { type Administration, createAdministration } from './administration.ts';

export type TenantTools = Tools<{ actor: string }>;

/** Runs `work` on the tenants; its acts are of who runs the command line. */
export const administer = <T>(tools: TenantTools, work: (admin: Administration, db: Database) => Promise<T>) =>
  tools.database((db) => work(createAdministration(db, tools.config().actor), db));
