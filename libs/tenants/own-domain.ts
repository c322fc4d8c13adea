/** The domain that a request manages: from Postgres, since what is cached may be half a second old. */
import type { Database } from '#libs/base/db/database';
import type { Context } from '#libs/base/http/context';
import { organizationIn } from './bearer.ts';
import { findDomain, type ManagedDomain } from './domains.ts';
import { domainNotFound } from './rules.ts';

export async function findOwnDomain(ctx: Context, db: Database, domainId: string): Promise<ManagedDomain> {
  const { organizationId } = organizationIn(ctx);
  const domain = await db.run((sql) => findDomain(sql, organizationId, domainId));
  if (!domain) throw domainNotFound();
  return domain;
}
