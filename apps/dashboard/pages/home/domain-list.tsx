/** Links to the first domains. The menu in the header has all of them. */
import type { Organization } from '#libs/contract/responses';
import { domainAddress } from '../../data/router.ts';
import { count, escapeInvisible } from '../../format.ts';

const listed = 12;

export function DomainList({ domains }: Pick<Organization, 'domains'>) {
  return (
    <nav class="card domains" aria-labelledby="domains-title">
      <header class="card-head">
        <h2 id="domains-title">Domains</h2>
        <p class="muted">{count(domains.length)}</p>
      </header>
      <ul>
        {domains.slice(0, listed).map(({ domainId, name }) => (
          <li key={domainId}>
            <a href={domainAddress(domainId)}>
              <bdi>{escapeInvisible(name)}</bdi>
              <span aria-hidden="true">→</span>
            </a>
          </li>
        ))}
      </ul>
      {domains.length > listed && <p class="muted">and {count(domains.length - listed)} more in the menu at the top</p>}
    </nav>
  );
}
