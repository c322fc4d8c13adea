/** The list of allowed origins. */

import { useEffect, useRef } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { count, escapeInvisible } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LookAlike } from '../parts/look-alike.tsx';
import { unlistedOrigins } from './unlisted-origins.ts';

export const Origins = ({ origins }: { origins: string[] }) =>
  origins.length === 0 ? (
    <span>any origin</span>
  ) : (
    <span class="settings-origins anywhere">
      {origins.map((origin) => (
        <bdi key={origin}>{escapeInvisible(origin)}</bdi>
      ))}
    </span>
  );

interface HintProps {
  records: Pick<FullRecord, 'pageUrl'>[];
  /** the allowed origins, stored or being edited */
  origins: string[];
  onAdd(origin: string): void;
}

const addButton = () => document.querySelector<HTMLElement>('.settings-add');

/** Origins of the newest records that are not in the list, each with a button that adds it. */
export function OriginsHint({ records, origins, onAdd }: HintProps) {
  const list = useRef<HTMLUListElement>(null);
  const unlisted = unlistedOrigins(records, origins);
  /** their number at the last click */
  const before = useRef(0);
  // the clicked button disappears with its origin
  useEffect(() => {
    if (unlisted.length >= before.current) return;
    before.current = 0;
    (list.current?.querySelector('button') ?? addButton())?.focus();
  }, [unlisted.length]);
  if (unlisted.length === 0) return null;
  return (
    <div class="stack gap-6 anywhere settings-hint">
      <p class="hint" id="origins-hint">
        {origins.length === 0
          ? 'The newest records come from the origins below. Once one is on the list, all others are refused.'
          : 'The newest records come from these origins too. They are not on the list, so their pages are refused now.'}{' '}
        These addresses can be faked. Add only your own.
      </p>
      <ul ref={list} aria-labelledby="origins-hint">
        {unlisted.map(({ origin, records: many }) => (
          <li key={origin}>
            {isolated(origin)}
            <span class="hint">{many === 1 ? '1 record' : `${count(many)} records`}</span>
            <LookAlike origin={origin} origins={origins} />
            <Button
              kind="quiet"
              onClick={() => {
                before.current = unlisted.length;
                onAdd(origin);
              }}
            >
              Add<span class="hidden"> {origin}</span>
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
