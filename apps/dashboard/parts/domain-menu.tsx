/** From any page to any domain: a list that narrows as one types. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/responses';
import { count, visible } from '../format.ts';

/** Domains in the list at once. */
const most = 100;

interface Props {
  domains: Organization['domains'];
  current: string | undefined;
  addressOf(domainId: string): string;
}

export function DomainMenu({ domains, current, addressOf }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [wanted, setWanted] = useState('');
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const close = (takeFocus: boolean) => {
    setOpen(false);
    setWanted('');
    if (takeFocus) button.current?.focus();
  };
  // before the next key is typed
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    search.current?.focus();
    const onOutside = (event: Event) => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) close(false);
    };
    document.addEventListener('pointerdown', onOutside);
    document.addEventListener('focusin', onOutside);
    return () => {
      document.removeEventListener('pointerdown', onOutside);
      document.removeEventListener('focusin', onOutside);
    };
  }, [isOpen]);

  const needle = wanted.trim().toLowerCase();
  const found = domains.filter(({ name, domainId }) => `${name} ${domainId}`.toLowerCase().includes(needle));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close(true);
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const links = [...(place.current?.querySelectorAll('a') ?? [])];
    const at = links.findIndex((link) => link.matches(':focus'));
    event.preventDefault();
    if (event.key === 'ArrowUp' && at <= 0) search.current?.focus();
    else links[event.key === 'ArrowDown' ? Math.min(at + 1, links.length - 1) : at - 1]?.focus();
  };
  const name = domains.find(({ domainId }) => domainId === current)?.name ?? current;

  return (
    <div class="menu" ref={place}>
      <button
        type="button"
        class="button menu-button"
        ref={button}
        aria-expanded={isOpen}
        onClick={() => (isOpen ? close(false) : setOpen(true))}
      >
        <span class="menu-name">{name === undefined ? 'Domains' : <bdi>{visible(name)}</bdi>}</span>
        <span aria-hidden="true">▾</span>
      </button>
      {isOpen && (
        <search class="menu-panel" onKeyDown={onKeyDown}>
          <input
            ref={search}
            type="search"
            class="menu-search"
            aria-label="Find a domain"
            placeholder={`Find one of ${count(domains.length)} domains`}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              // else it would also press the button that then has the keyboard
              event.preventDefault();
              place.current?.querySelector('a')?.click();
            }}
          />
          <p class="hidden" role="status">
            {count(found.length)} domains
          </p>
          <ul>
            {found.slice(0, most).map(({ domainId, name: domainName }) => (
              <li key={domainId}>
                <a
                  href={addressOf(domainId)}
                  aria-current={domainId === current ? 'page' : undefined}
                  onClick={() => close(true)}
                >
                  <bdi>{visible(domainName)}</bdi>
                  <code>{domainId}</code>
                </a>
              </li>
            ))}
          </ul>
          {found.length > most && (
            <p class="muted menu-none">and {count(found.length - most)} more: type a few letters</p>
          )}
          {found.length === 0 && <p class="muted menu-none">No domain with “{wanted}” in its name.</p>}
        </search>
      )}
    </div>
  );
}
