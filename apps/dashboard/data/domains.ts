/** The domains of an organization, as its menu has them. */
import type { Organization } from '#libs/contract/statistics';

export type Domain = Organization['domains'][number];

/** One that is not listed is known by its id alone. */
export const domainIn = ({ domains }: Organization, domainId: string): Domain =>
  domains.find((each) => each.domainId === domainId) ?? { domainId, name: domainId };

/** Those that record first, each kind in its order. */
export const activeFirst = (domains: Domain[]): Domain[] =>
  domains.toSorted((one, other) => Number('archivedAt' in one) - Number('archivedAt' in other));
