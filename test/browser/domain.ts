import { createAdministration } from '#libs/store/tenants/administration';
import type { Stack } from '../e2e/stack.ts';

/** The same stack with a domain of a test's own: its records are all of that test's making. */
export async function withOwnDomain(stack: Stack, origins: string[] = []): Promise<Stack> {
  const admin = createAdministration(stack.db, 'test');
  const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'a site', origins });
  const { apiKey } = await admin.createKey(domainId);
  return { ...stack, domainId, apiKey };
}
