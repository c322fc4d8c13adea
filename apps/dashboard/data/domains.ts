/** The domains of an organization for its menu. */
import type { Organization } from '#libs/stats/contract';

type Domain = Organization['domains'][number];

/** A domain that is not listed has only its id. */
export const domainIn = ({ domains }: Organization, domainId: string): Domain =>
  domains.find((each) => each.domainId === domainId) ?? { domainId, name: domainId };

/** Active domains first, then archived ones. */
export const activeFirst = (domains: Domain[]): Domain[] =>
  domains.toSorted((one, other) => Number('archivedAt' in one) - Number('archivedAt' in other));

/** Domains whose name or id contains the text, ignoring case. */
export const domainsFound = <Listed extends Pick<Domain, 'domainId' | 'name'>>(domains: Listed[], search: string) => {
  const needle = search.trim().toLowerCase();
  return domains.filter(({ name, domainId }) => `${name} ${domainId}`.toLowerCase().includes(needle));
};
