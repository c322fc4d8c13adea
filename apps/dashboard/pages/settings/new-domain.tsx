/** Makes a domain. Its keys are made on its own page. */
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import type { DomainDraft } from '../../data/domain-draft.ts';
import { withDomain } from '../../data/managed-domain.ts';
import { domainsAddress, navigate, settingsAddress } from '../../data/router.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { DomainForm } from './domain-form.tsx';

interface Props {
  api: Api;
  organization: Organization;
  onOrganization(organization: Organization): void;
}

export function NewDomain({ api, organization, onOrganization }: Props) {
  const make = async (draft: DomainDraft) => {
    const domain = await api.manage.createDomain(draft);
    onOrganization(withDomain(organization, domain));
    navigate(settingsAddress(domain.domainId), { replace: true });
  };
  return (
    <>
      <PageHead
        title="New domain"
        note="A website whose visitors decide. Its banner and its first key come next."
        way={[
          { name: 'Domains', address: domainsAddress },
          { name: 'New domain', address: null },
        ]}
      />
      <section class="card" aria-label="New domain">
        <DomainForm
          given={{ name: '', origins: [''] }}
          action="Create domain"
          save={make}
          onCancel={() => navigate(domainsAddress)}
        />
      </section>
    </>
  );
}
