/** A menu of all domains with a search field. */
import type { Organization } from '#libs/stats/contract';
import './domain-menu.css';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { activeFirst, domainsFound } from '../data/domains.ts';
import { count } from '../format.ts';
import { isolated } from './isolated.tsx';

/** domains listed at a time */
const listed = 100;

interface Props {
  domains: Organization['domains'];
  current: string | undefined;
  addressOf(domainId: string): string;
}

export function DomainMenu({ domains, current, addressOf }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const close = (takeFocus: boolean) => {
    setOpen(false);
    setSearch('');
    if (takeFocus) button.current?.focus();
  };
  // a layout effect, so that the field has the focus before the next key
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    field.current?.focus();
    const onOutside = (event: Event) => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) close(false);
    };
    document.addEventListener('pointerdown', onOutside);
    document.addEventListener('focusin', onOutside);
    return () => {
      document.removeEventListener('pointerdown', onOutside);
      document.removeEventListener('focusin', onOutside);
    };
  }, [isOpen]);

  const found = domainsFound(activeFirst(domains), search);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close(true);
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const links = [...(menu.current?.querySelectorAll('a') ?? [])];
    const at = links.findIndex((link) => link.matches(':focus'));
    event.preventDefault();
    if (event.key === 'ArrowUp' && at <= 0) field.current?.focus();
    else links[event.key === 'ArrowDown' ? Math.min(at + 1, links.length - 1) : at - 1]?.focus();
  };
  const name = domains.find(({ domainId }) => domainId === current)?.name ?? current;

  return (
    <div class="menu" ref={menu}>
      <button
        type="button"
        class="button menu-button"
        ref={button}
        aria-expanded={isOpen}
        onClick={() => (isOpen ? close(false) : setOpen(true))}
      >
        <span class="clipped">{name === undefined ? 'Domains' : isolated(name)}</span>
        <span aria-hidden="true">▾</span>
      </button>
      {isOpen && (
        <search class="menu-panel" onKeyDown={onKeyDown}>
          <input
            ref={field}
            type="search"
            aria-label="Search domains"
            placeholder={`Search ${count(domains.length)} domains`}
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              // otherwise Enter would also press the menu button, which has the focus by then
              event.preventDefault();
              menu.current?.querySelector('a')?.click();
            }}
          />
          <p class="hidden" role="status">
            {count(found.length)} {found.length === 1 ? 'domain' : 'domains'}
          </p>
          <ul>
            {found.slice(0, listed).map(({ domainId, name: domainName, archivedAt }) => (
              <li key={domainId}>
                <a
                  href={addressOf(domainId)}
                  aria-current={domainId === current ? 'page' : undefined}
                  onClick={() => close(true)}
                >
                  <span class="menu-domain">
                    {isolated(domainName)}
                    {archivedAt && <span class="tag">Archived</span>}
                  </span>
                  <code class="clipped">{domainId}</code>
                </a>
              </li>
            ))}
          </ul>
          {found.length > listed && (
            <p class="muted menu-none">and {count(found.length - listed)} more: type to narrow the list</p>
          )}
          {found.length === 0 && <p class="muted menu-none">No domain matches “{search}”.</p>}
        </search>
      )}
    </div>
  );
}
