/** The filters of the activity: by act, actor and period, or by visitor. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { ActFilters } from '../data/manage-api.ts';
import { activityAddress, navigate } from '../data/router.ts';
import { mayReadVisitors } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { Button } from '../parts/button.tsx';
import { DayField, Failure, Select, VisitorField } from '../parts/field.tsx';
import { actNames } from './acts.ts';

const names = ['act', 'actor', 'from', 'to'] as const;

export const filtersIn = (query: URLSearchParams): ActFilters =>
  Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));

/** The default is changes, since reads are far more frequent. Otherwise a kind of act, or one of these. */
const kinds = { '': 'Everything but reads', reads: 'Reads of records', all: 'Everything' };

/** The query for the service. */
export function askedFor({ act = '', ...others }: ActFilters): ActFilters {
  if (act === 'all') return others;
  if (act === 'reads') return { ...others, kind: 'reads' };
  return act === '' ? { ...others, kind: 'changes' } : { ...others, act };
}

interface Props {
  filters: ActFilters;
  visitorId: string | null;
}

export function ActivityFilters({ filters, visitorId }: Props) {
  const { organization } = useSignedIn();
  const [typed, setTyped] = useState({ ...filters, visitor: visitorId ?? '' });
  const address = JSON.stringify([filters, visitorId]);
  // a layout effect, since a later one could overwrite typed text
  useLayoutEffect(() => setTyped({ ...filters, visitor: visitorId ?? '' }), [address]);
  const { act = '', actor = '', from = '', to = '', visitor } = typed;
  const isReversed = from !== '' && to !== '' && from > to;
  const isFiltered = visitorId !== null || Object.keys(filters).length > 0;
  return (
    <form
      class="full activity-filters card"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (visitor !== '') navigate(activityAddress({}, visitor));
        else if (!isReversed) navigate(activityAddress({ act, actor: actor.trim(), from, to }));
      }}
    >
      <Select
        label="What"
        options={Object.entries({ ...kinds, ...actNames }).map(([value, name]) => ({ value, name }))}
        chosen={act}
        onChoose={(chosen) => setTyped({ ...typed, act: chosen, visitor: '' })}
      />
      <label>
        Who
        <input
          type="search"
          spellcheck={false}
          placeholder="As it is listed"
          value={actor}
          onInput={(event) => setTyped({ ...typed, actor: event.currentTarget.value, visitor: '' })}
        />
      </label>
      <DayField label="From (UTC)" value={from} onDay={(day) => setTyped({ ...typed, from: day, visitor: '' })} />
      <DayField label="To (UTC)" value={to} onDay={(day) => setTyped({ ...typed, to: day, visitor: '' })} />
      {mayReadVisitors(organization) && (
        <VisitorField
          value={visitor}
          onType={(text) => setTyped(text === '' ? { ...typed, visitor: text } : { visitor: text })}
        />
      )}
      <div class="actions">
        <Button text="Find" type="submit" kind="primary" disabled={isReversed} />
        {isFiltered && <Button text="Clear" kind="quiet" onClick={() => navigate(activityAddress())} />}
      </div>
      {isReversed && <Failure>From must not be after To.</Failure>}
    </form>
  );
}
