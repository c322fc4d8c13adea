/** All domains, or some of them. */
import { useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import type { Draft } from '../../data/webhook-draft.ts';
import { count, escapeInvisible } from '../../format.ts';
import { FieldNote } from '../../parts/field-note.tsx';

/** More are searched. */
const few = 8;
/** Domains listed at once. */
const listed = 100;

interface Props {
  organization: Organization;
  draft: Draft;
  onChange(changed: Partial<Draft>): void;
  error: string | undefined;
}

export function DomainPicker({ organization, draft, onChange, error }: Props) {
  const [search, setSearch] = useState('');
  const { hasAllDomains, domains: chosen } = draft;
  // one that is no longer listed can still be taken out
  const lost = chosen.filter((domainId) => !organization.domains.some((each) => each.domainId === domainId));
  const all = [...organization.domains, ...lost.map((domainId) => ({ domainId, name: domainId }))];
  const needle = search.trim().toLowerCase();
  const found = all.filter(({ name, domainId }) => `${name} ${domainId}`.toLowerCase().includes(needle));
  const toggle = (domainId: string, isOn: boolean) =>
    onChange({ domains: isOn ? [...chosen, domainId] : chosen.filter((each) => each !== domainId) });
  return (
    <fieldset class="webhook-field" data-wrong={error && ''} aria-describedby="webhook-domains-note">
      <legend>Domains</legend>
      <div class="webhook-checks">
        <label class="webhook-check">
          <input
            type="radio"
            name="domains"
            checked={hasAllDomains}
            onChange={() => onChange({ hasAllDomains: true })}
          />
          All domains, including future ones
        </label>
        <label class="webhook-check">
          <input
            type="radio"
            name="domains"
            checked={!hasAllDomains}
            onChange={() => onChange({ hasAllDomains: false })}
          />
          Only these
        </label>
      </div>
      {!hasAllDomains && (
        <div class="webhook-domains">
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
          <div class="webhook-domain-list">
            {found.slice(0, listed).map(({ domainId, name }) => (
              <label key={domainId} class="webhook-check">
                <input
                  type="checkbox"
                  checked={chosen.includes(domainId)}
                  onChange={(event) => toggle(domainId, event.currentTarget.checked)}
                />
                <bdi>{escapeInvisible(name)}</bdi>
              </label>
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
