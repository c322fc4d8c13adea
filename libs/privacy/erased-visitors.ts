/** Who was erased lately: until a tombstone ends, what comes of its visitor is blanked once its epoch is closed. */
import type { Sql } from '#libs/base/db/database';
import { allDomains, createVisitorHash } from '#libs/tenants/visitors';
import { findErased } from './tombstones.ts';

interface Visitor {
  organizationId: string;
  domainNumber: number;
  visitorId: string;
}

/** By their places. Without PRIVACY_KEY nobody was erased. */
export function createFindErasedVisitors(privacyKey: Buffer | undefined) {
  const hashOf = privacyKey && createVisitorHash(privacyKey);
  return async (sql: Sql, visitors: Visitor[]): Promise<boolean[]> => {
    if (!hashOf) return visitors.map(() => false);
    const hashes = visitors.map(({ organizationId, visitorId }) => hashOf(organizationId, visitorId).toString('hex'));
    const erased = await findErased(sql, hashes);
    return visitors.map(({ domainNumber }, at) => {
      const domains = erased.get(hashes[at] ?? '');
      return domains !== undefined && (domains.has(allDomains) || domains.has(domainNumber));
    });
  };
}
