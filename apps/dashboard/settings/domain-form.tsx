/** A form with a domain's name, origins and validity of permissions. */
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
  /** the newest records, whose origins may be missing in the list */
  records?: FullRecord[];
  /** the button's label */
  action: string;
  /** Sends a normalized draft. */
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
        <ValidityFields draft={draft} errors={errors} set={set} />
        <OriginsHint
          records={records}
          origins={cleanDraft(draft).origins}
          onAdd={(origin) => set({ origins: [...cleanDraft(draft).origins, origin] })}
        />
      </>
    )}
  </DraftForm>
);

interface ValidityProps {
  draft: DomainDraft;
  errors: Partial<Record<string, string>>;
  set(change: Partial<DomainDraft>): void;
}

function ValidityFields({ draft, errors, set }: ValidityProps) {
  const { validMonths, policyVersion } = draft;
  // the published banner sets it
  if (validMonths === undefined || policyVersion === undefined) return null;
  return (
    <>
      <Field
        label="Months that permissions are valid"
        type="number"
        min={1}
        max={120}
        noteId="domain-months-note"
        note="Empty: they do not expire. Publishing a banner sets this and the next field"
        error={errors['/validMonths']}
        value={validMonths === null ? '' : String(validMonths)}
        onText={(text) => set({ validMonths: text === '' ? null : Number(text) })}
      />
      <Field
        label="Policy version"
        type="text"
        maxLength={64}
        noteId="domain-policy-note"
        note="Permissions under another version do not hold. Empty: under any"
        error={errors['/policyVersion']}
        value={policyVersion ?? ''}
        onText={(text) => set({ policyVersion: text === '' ? null : text })}
      />
    </>
  );
}

/** The form for a new domain. Its keys are created on its own page. */
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
          given={{ name: '', origins: [''], validMonths: null, policyVersion: null }}
          action="Create domain"
          save={make}
          onCancel={() => navigate(domainsAddress)}
        />
      </section>
    </>
  );
}
