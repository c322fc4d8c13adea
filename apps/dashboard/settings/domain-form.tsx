/** A domain's name and origins. */
import type { FullRecord } from '#libs/record/contract';
import { domainsAddress, navigate, settingsAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { DraftForm } from '../parts/draft-form.tsx';
import { Field } from '../parts/field.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { cleanDraft, type DomainDraft, errorsByPath, errorsIn } from './domain-draft.ts';
import { withDomain } from './managed-domain.ts';
import { OriginsHint } from './origins.tsx';
import { OriginsField } from './origins-field.tsx';

interface Props {
  given: DomainDraft;
  /** the newest, whose origins may be missing on the list */
  records?: FullRecord[];
  /** of the button */
  action: string;
  /** Takes a clean draft. */
  save(draft: DomainDraft): Promise<void>;
  onCancel(): void;
}

export const DomainForm = ({ records = [], ...given }: Props) => (
  <DraftForm {...given} clean={cleanDraft} wrongIn={errorsIn} errorsOf={errorsByPath}>
    {({ draft, errors, set }) => (
      <>
        <Field
          label="Name"
          type="text"
          placeholder="www.example.com"
          noteId="domain-name-note"
          note="For people: usually the website’s host name"
          error={errors['/name']}
          value={draft.name}
          onText={(name) => set({ name })}
        />
        <OriginsField origins={draft.origins} errors={errors} onChange={(origins) => set({ origins })} />
        <OriginsHint
          records={records}
          origins={cleanDraft(draft).origins}
          onAdd={(origin) => set({ origins: [...cleanDraft(draft).origins, origin] })}
        />
      </>
    )}
  </DraftForm>
);

/** Makes a domain. Its keys are made on its own page. */
export function NewDomain() {
  const { api, organization, onOrganization } = useSignedIn();
  const make = async (draft: DomainDraft) => {
    const domain = await api.manage.createDomain(draft);
    onOrganization(withDomain(organization, domain));
    navigate(settingsAddress(domain.domainId), { replace: true });
  };
  return (
    <>
      <PageHead
        title="New domain"
        note="A website where you ask for consent. Its banner and its first key come next."
        under={{ name: 'Domains', address: domainsAddress }}
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
