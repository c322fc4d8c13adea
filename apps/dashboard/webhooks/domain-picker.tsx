/** Chooses all domains or some of them. */
import { useSignedIn } from '../data/signed-in.ts';
import { Check } from '../parts/check.tsx';
import { DomainChecks } from '../parts/domain-checks.tsx';
import { FieldNote } from '../parts/field.tsx';
import type { Draft } from './webhook-draft.ts';

interface Props {
  draft: Draft;
  onChange(changed: Partial<Draft>): void;
  error: string | undefined;
}

export function DomainPicker({ draft, onChange, error }: Props) {
  const { organization } = useSignedIn();
  const { hasAllDomains, domains: chosen } = draft;
  // a domain that is no longer listed can still be removed
  const lost = chosen.filter((domainId) => !organization.domains.some((each) => each.domainId === domainId));
  const all = [...organization.domains, ...lost.map((domainId) => ({ domainId, name: domainId }))];
  return (
    <fieldset class="field" data-wrong={error && ''} aria-describedby="webhook-domains-note">
      <legend>Domains</legend>
      <div class="stack gap-6">
        <Check type="radio" name="domains" checked={hasAllDomains} onChange={() => onChange({ hasAllDomains: true })}>
          All domains, including future ones
        </Check>
        <Check type="radio" name="domains" checked={!hasAllDomains} onChange={() => onChange({ hasAllDomains: false })}>
          Only these
        </Check>
      </div>
      {!hasAllDomains && <DomainChecks domains={all} chosen={chosen} onChange={(domains) => onChange({ domains })} />}
      <FieldNote id="webhook-domains-note" error={error} />
    </fieldset>
  );
}
