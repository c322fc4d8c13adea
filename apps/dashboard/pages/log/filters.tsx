/** The filters of the log. Selects apply at once, typed values with Enter or “Find”. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { decisionNames, decisions } from '../../data/decisions.ts';
import { hasFilters, type LogQuery } from '../../data/log-query.ts';
import { VisitorField } from '../../parts/visitor-field.tsx';

interface Props {
  query: LogQuery;
  show(query: LogQuery): void;
  /** absent where the token may not read visitors */
  showVisitor?: ((visitorId: string) => void) | undefined;
}

export function Filters({ query, show, showVisitor }: Props) {
  const [visitor, setVisitor] = useState(query.visitorId ?? '');
  const [days, setDays] = useState({ from: query.from ?? '', to: query.to ?? '' });
  // before anything can be typed, which a later effect would take back
  useLayoutEffect(() => setVisitor(query.visitorId ?? ''), [query.visitorId]);
  useLayoutEffect(() => setDays({ from: query.from ?? '', to: query.to ?? '' }), [query.from, query.to]);
  const isReversed = days.from !== '' && days.to !== '' && days.from > days.to;
  const typed = { visitorId: visitor.trim() || undefined, from: days.from || undefined, to: days.to || undefined };
  const apply = (changed: Partial<LogQuery>) => {
    if (!isReversed) show({ ...query, ...typed, ...changed, page: 1 });
  };
  return (
    <form
      class="filters card"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply({});
      }}
    >
      <VisitorField class="filter-wide" value={visitor} onType={setVisitor} />
      <label>
        Decision
        <select
          value={query.decision ?? ''}
          onChange={(event) => apply({ decision: event.currentTarget.value || undefined })}
        >
          <option value="">All decisions</option>
          {decisions.map((name) => (
            <option key={name} value={name}>
              {decisionNames[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        From (UTC)
        <input
          type="date"
          min="2000-01-01"
          max="2100-12-31"
          value={days.from}
          onInput={(event) => setDays({ ...days, from: event.currentTarget.value })}
        />
      </label>
      <label>
        To (UTC)
        <input
          type="date"
          min="2000-01-01"
          max="2100-12-31"
          value={days.to}
          onInput={(event) => setDays({ ...days, to: event.currentTarget.value })}
        />
      </label>
      <label>
        Sent by
        <select value={query.bot ?? ''} onChange={(event) => apply({ bot: event.currentTarget.value || undefined })}>
          <option value="">Everyone</option>
          <option value="false">Browsers</option>
          <option value="true">Bots and programs</option>
        </select>
      </label>
      <div class="filter-actions">
        <button type="submit" class="button primary" disabled={isReversed}>
          Find
        </button>
        {showVisitor && typed.visitorId !== undefined && (
          <button type="button" class="button" onClick={() => showVisitor(typed.visitorId ?? '')}>
            Visitor’s page
          </button>
        )}
        {hasFilters(query) && (
          <button
            type="button"
            class="button quiet"
            onClick={() =>
              show({
                page: 1,
                limit: query.limit,
                decision: undefined,
                from: undefined,
                to: undefined,
                visitorId: undefined,
                bot: undefined,
              })
            }
          >
            Clear
          </button>
        )}
      </div>
      {isReversed && (
        <p class="field-note" role="alert">
          From must not be after To.
        </p>
      )}
    </form>
  );
}
