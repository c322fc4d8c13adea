/** A line about the domains that have stopped sending decisions, the most recent first. */
import type { Organization } from '#libs/stats/contract';
import { type DomainFigures, silentDays } from '../data/domain-figures.ts';
import { domainAddress } from '../data/router.ts';
import { count, counted } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';

/** domains listed by name */
const named = 3;

export function SilentDomains({ domains, figures }: Pick<Organization, 'domains'> & { figures: DomainFigures }) {
  const silent = domains
    .map((domain) => ({ ...domain, days: silentDays(figures.get(domain.domainId)?.lastDecisionAt) }))
    .filter(({ archivedAt, days }) => archivedAt === undefined && days > 0)
    .sort((one, other) => one.days - other.days);
  if (silent.length === 0) return null;
  const more = silent.length - named;
  return (
    <p class="notice plan-notice" role="status">
      No decisions from{' '}
      {silent.slice(0, named).map(({ domainId, name, days }, at) => (
        <>
          {at > 0 && ', '}
          <a class="anywhere" href={domainAddress(domainId)}>
            {isolated(name)}
          </a>{' '}
          for {counted(days, 'day')}
        </>
      ))}
      {more > 0 && `, and ${count(more)} more`}.
    </p>
  );
}
