/** Origins of the newest records that the list does not have, each with a way onto it. */
import { useEffect, useRef } from 'preact/hooks';
import type { FullRecord } from '#libs/contract/record';
import { unlistedOrigins } from '../../data/unlisted-origins.ts';
import { count, escapeInvisible } from '../../format.ts';

interface Props {
  records: Pick<FullRecord, 'pageUrl'>[];
  /** the list, as it is or as it is being changed */
  origins: string[];
  onAdd(origin: string): void;
}

const addButton = () => document.querySelector<HTMLElement>('.settings-add');

export function OriginsHint({ records, origins, onAdd }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const unlisted = unlistedOrigins(records, origins);
  const wasAdded = useRef(false);
  // the button that was clicked is gone with its origin
  useEffect(() => {
    if (wasAdded.current) (list.current?.querySelector('button') ?? addButton())?.focus();
    wasAdded.current = false;
  }, [unlisted.length]);
  if (unlisted.length === 0) return null;
  return (
    <div class="settings-hint">
      <p class="hint" id="origins-hint">
        {origins.length === 0
          ? 'The newest records come from the origins below. Once one is on the list, all others are refused.'
          : 'The newest records come from these origins too. They are not on the list, so their pages are refused now.'}
      </p>
      <ul ref={list} aria-labelledby="origins-hint">
        {unlisted.map(({ origin, records: many }) => (
          <li key={origin}>
            <bdi>{escapeInvisible(origin)}</bdi>
            <span class="hint">{many === 1 ? '1 record' : `${count(many)} records`}</span>
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                wasAdded.current = true;
                onAdd(origin);
              }}
            >
              Add<span class="hidden"> {origin}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
