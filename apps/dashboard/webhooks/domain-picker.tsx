/** All domains, or some of them. */
import { useState } from 'preact/hooks';
import { domainsFound } from '../data/domains.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count } from '../format.ts';
import { Check } from '../parts/check.tsx';
import { FieldNote } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import type { Draft } from './webhook-draft.ts';

/** More are searched. */
const few = 8;
/** Domains listed at once. */
const listed = 100;

interface Props {
  draft: Draft;
  onChange(changed: Partial<Draft>): void;
  error: string | undefined;
}

export function DomainPicker({ draft, onChange, error }: Props) {
  const { organization } = useSignedIn();
  const [search, setSearch] = useState('');
  const { hasAllDomains, domains: chosen } = draft;
  // one that is no longer listed can still be taken out
  const lost = chosen.filter((domainId) => !organization.domains.some((each) => each.domainId === domainId));
  const all = [...organization.domains, ...lost.map((domainId) => ({ domainId, name: domainId }))];
  const found = domainsFound(all, search);
  const toggle = (domainId: string, isOn: boolean) =>
    onChange({ domains: isOn ? [...chosen, domainId] : chosen.filter((each) => each !== domainId) });
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
      {!hasAllDomains && (
        <div class="stack gap-8 webhook-domains">
          {all.length > few && (
            <input
              type="search"
              aria-label="Search domains"
              placeholder={`Search ${count(all.length)} domains`}
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
              // Enter would send the form
              onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            />
          )}
          <div class="stack gap-6 webhook-domain-list">
            {found.slice(0, listed).map(({ domainId, name }) => (
              <Check key={domainId} checked={chosen.includes(domainId)} onChange={(isOn) => toggle(domainId, isOn)}>
                {isolated(name)}
              </Check>
            ))}
            {found.length === 0 && <p class="muted">No domain matches “{search}”.</p>}
          </div>
          {found.length > listed && (
            <p class="hint">and {count(found.length - listed)} more: type to narrow the list</p>
          )}
          <p class="hint" role="status">
            {count(chosen.length)} chosen
          </p>
        </div>
      )}
      <FieldNote id="webhook-domains-note" error={error} />
    </fieldset>
  );
}
