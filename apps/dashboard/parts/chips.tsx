/** A row of links, one of which is current. */
import './chips.css';
import { useEffect, useRef } from 'preact/hooks';
import { isolated } from './isolated.tsx';

interface Chip {
  name: string;
  address: string;
  isCurrent: boolean;
}

export function Chips({ label, chips }: { label: string; chips: Chip[] }) {
  const list = useRef<HTMLElement>(null);
  const current = chips.find(({ isCurrent }) => isCurrent)?.address;
  // a phone shows only some of them: scroll the list, but not the page, to the current one
  useEffect(() => {
    const frame = list.current?.getBoundingClientRect();
    const chip = list.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    if (frame && chip) list.current?.scrollBy({ left: chip.left + chip.width / 2 - frame.left - frame.width / 2 });
  }, [current]);
  return (
    <nav class="chips" aria-label={label} ref={list}>
      {chips.map(({ name, address, isCurrent }) => (
        <a key={name} href={address} aria-current={isCurrent ? 'true' : undefined}>
          {isolated(name)}
        </a>
      ))}
    </nav>
  );
}
