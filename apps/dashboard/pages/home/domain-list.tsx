/** Links to the first domains. The menu in the header has all of them, and those that are archived. */
import type { Organization } from '#libs/contract/responses';
import { domainAddress } from '../../data/router.ts';
import { count, escapeInvisible } from '../../format.ts';

const listed = 12;

export function DomainList({ domains }: Pick<Organization, 'domains'>) {
  const active = domains.filter(({ archivedAt }) => archivedAt === undefined);
  const shown = active.slice(0, listed);
  const more = active.length - shown.length;
  const archived = domains.length - active.length;
  return (
    <nav class="card domains" aria-labelledby="domains-title">
      <header class="card-head">
        <h2 id="domains-title">Domains</h2>
        <p class="muted">{count(active.length)}</p>
      </header>
      <ul>
        {shown.map(({ domainId, name }) => (
          <li key={domainId}>
            <a href={domainAddress(domainId)}>
              <bdi>{escapeInvisible(name)}</bdi>
              <span aria-hidden="true">→</span>
            </a>
          </li>
        ))}
      </ul>
      {(more > 0 || archived > 0) && (
        <p class="muted">
          and{' '}
          {[more > 0 && `${count(more)} more`, archived > 0 && `${count(archived)} archived`]
            .filter(Boolean)
            .join(', ')}{' '}
          in the menu at the top
        </p>
      )}
    </nav>
  );
}
