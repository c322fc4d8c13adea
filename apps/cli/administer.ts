import type { Database } from '#libs/store/sql';
import { type Administration, createAdministration } from '#libs/store/tenants/administration';
import type { Tools } from './session.ts';

export type TenantTools = Tools<{ actor: string }>;

/** Runs `work` on the tenants; its acts are of who runs the command line. */
export const administer = <T>(tools: TenantTools, work: (admin: Administration, db: Database) => Promise<T>) =>
  tools.database((db) => work(createAdministration(db, tools.config().actor), db));
