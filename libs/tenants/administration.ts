/** What operators and managers change. Each change and its administrative act are written in one transaction. */

import type { Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import { createPerform } from './audited-change.ts';
import { domainChanges } from './domains.ts';
import { keyChanges } from './keys.ts';
import { peopleChanges } from './organization-people.ts';
import { organizationChanges } from './organizations.ts';
import { tokenChanges } from './token-revocation.ts';

export function createAdministration(db: Pick<Database, 'transaction'>, actor: string) {
  const perform = createPerform(db, actor);

  return {
    ...organizationChanges(perform),
    ...domainChanges(perform),
    ...keyChanges(perform),
    ...tokenChanges(perform),
    ...peopleChanges(perform),
  };
}

export type Administration = ReturnType<typeof createAdministration>;

export type TenantTools = Tools<{ actor: string }>;

/** Runs `work` on the tenants, with the operator as the actor of its acts. */
export const administer = <T>(tools: TenantTools, work: (admin: Administration, db: Database) => Promise<T>) =>
  tools.database((db) => work(createAdministration(db, tools.config().actor), db));
