/** What an organization shows of which no domain records: how to create one. */
import type { Organization } from '#libs/contract/statistics';
import { domainsAddress, newDomainAddress } from '../../data/router.ts';
import { mayManage } from '../../data/scopes.ts';
import { assentCommand } from '../../parts/assent-command.ts';
import { Snippet } from '../../parts/snippet.tsx';

export function FirstDomain({ organization }: { organization: Organization }) {
  const { organizationId, domains } = organization;
  const createDomain = `domain create ${organizationId} www.example.com --origin https://www.example.com`;
  const isNew = domains.length === 0;
  const title = isNew ? 'Add the first domain' : 'Every domain is archived';
  const why = isNew ? 'This organization has no domain yet.' : 'Nothing is recorded, and the last 30 days are empty.';
  if (mayManage(organization))
    return (
      <section class="card message">
        <h2>{title}</h2>
        <p>{why} A domain is a website whose visitors decide.</p>
        <div class="actions">
          <a class="button primary" href={newDomainAddress}>
            New domain
          </a>
          {!isNew && (
            <a class="button" href={domainsAddress}>
              All domains
            </a>
          )}
        </div>
      </section>
    );
  return (
    <section class="card message">
      <h2>{title}</h2>
      <p>{why} The operator of Assent creates one, and a key for it, on the command line.</p>
      <Snippet name="Command line" code={`${assentCommand(createDomain)}\n${assentCommand('key create DOMAIN')}`} />
      <p class="muted">This page updates once the domain exists.</p>
    </section>
  );
}
