/** The domains of an organization, as its menu has them. */
import type { Organization } from '#libs/stats/contract';

type Domain = Organization['domains'][number];

/** One that is not listed is known by its id alone. */
export const domainIn = ({ domains }: Organization, domainId: string): Domain =>
  domains.find((each) => each.domainId === domainId) ?? { domainId, name: domainId };

/** Those that record first, each kind in its order. */
export const activeFirst = (domains: Domain[]): Domain[] =>
  domains.toSorted((one, other) => Number('archivedAt' in one) - Number('archivedAt' in other));

/** Those whose name or id has the text, whatever its case. */
export const domainsFound = <Listed extends Pick<Domain, 'domainId' | 'name'>>(domains: Listed[], search: string) => {
  const needle = search.trim().toLowerCase();
  return domains.filter(({ name, domainId }) => `${name} ${domainId}`.toLowerCase().includes(needle));
};
