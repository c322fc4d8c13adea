/** Shown for an organization without active domains: how to create one. */
import { domainsAddress, newDomainAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { assentCommand } from '../parts/assent-command.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Snippet } from '../parts/snippet.tsx';

export function FirstDomain() {
  const { organization } = useSignedIn();
  const { organizationId, domains } = organization;
  const createDomain = `domain create ${organizationId} www.example.com --origin https://www.example.com`;
  const isNew = domains.length === 0;
  const title = isNew ? 'Add the first domain' : 'Every domain is archived';
  const why = isNew ? 'This organization has no domain yet.' : 'Nothing is recorded, and the last 30 days are empty.';
  return (
    <section class="card message">
      <h2>{title}</h2>
      {mayManage(organization) ? (
        <>
          <p>{why} A domain is a website where you ask for consent.</p>
          <div class="actions">
            <ButtonLink text="New domain" kind="primary" href={newDomainAddress} />
            {!isNew && <ButtonLink text="All domains" href={domainsAddress} />}
          </div>
        </>
      ) : (
        <>
          <p>{why} The operator of Assent creates one on the command line.</p>
          <Snippet name="Command line" code={assentCommand(createDomain)} />
          <p class="muted">This page updates once the domain exists.</p>
        </>
      )}
    </section>
  );
}
