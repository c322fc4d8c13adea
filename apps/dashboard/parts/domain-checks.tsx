/** Checkboxes for domains, with a search field if there are many. */
import './domain-checks.css';
import { useState } from 'preact/hooks';
import { domainsFound } from '../data/domains.ts';
import { count } from '../format.ts';
import { Button } from './button.tsx';
import { Check } from './check.tsx';
import { isolated } from './isolated.tsx';

/** With more domains, a search field is shown. */
const few = 8;
/** domains listed at a time */
const listed = 100;

interface Props {
  domains: { domainId: string; name: string }[];
  chosen: string[];
  disabled?: boolean | undefined;
  onChange(chosen: string[]): void;
}

export function DomainChecks({ domains, chosen, disabled, onChange }: Props) {
  const [search, setSearch] = useState('');
  const found = domainsFound(domains, search);
  const foundIds = found.map(({ domainId }) => domainId);
  const without = chosen.filter((each) => !foundIds.includes(each));
  const isAll = foundIds.length > 0 && foundIds.every((each) => chosen.includes(each));
  const toggle = (domainId: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, domainId] : chosen.filter((each) => each !== domainId));
  return (
    <div class="stack gap-8 domain-checks">
      {domains.length > few && (
        <input
          type="search"
          aria-label="Search domains"
          placeholder={`Search ${count(domains.length)} domains`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
          // Enter would submit the form
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      <div class="stack gap-6 domain-checks-list">
        {found.slice(0, listed).map(({ domainId, name }) => (
          <Check
            key={domainId}
            checked={chosen.includes(domainId)}
            disabled={disabled}
            onChange={(isOn) => toggle(domainId, isOn)}
          >
            {isolated(name)}
          </Check>
        ))}
        {found.length === 0 && <p class="muted">No domain matches “{search}”.</p>}
      </div>
      {found.length > listed && <p class="hint">and {count(found.length - listed)} more: type to narrow the list</p>}
      <p class="hint cluster">
        <span role="status">{count(chosen.length)} chosen</span>
        <Button
          kind="quiet"
          text={isAll ? 'Choose none' : 'Choose all'}
          disabled={disabled || found.length === 0}
          onClick={() => onChange(isAll ? without : [...without, ...foundIds])}
        />
      </p>
    </div>
  );
}
