/** The filters of the log. Selects apply at once, typed values with Enter or “Find”. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { decisionNames, decisions } from '../data/decisions.ts';
import { Button } from '../parts/button.tsx';
import { DayField, Failure, Select, VisitorField } from '../parts/field.tsx';
import { hasFilters, type LogQuery } from './log-query.ts';

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
      class="full filters card"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply({});
      }}
    >
      <VisitorField class="filter-wide" value={visitor} onType={setVisitor} />
      <Select
        label="Decision"
        options={[
          { value: '', name: 'All decisions' },
          ...decisions.map((value) => ({ value, name: decisionNames[value] })),
        ]}
        chosen={query.decision ?? ''}
        onChoose={(decision) => apply({ decision: decision || undefined })}
      />
      <DayField label="From (UTC)" value={days.from} onDay={(from) => setDays({ ...days, from })} />
      <DayField label="To (UTC)" value={days.to} onDay={(to) => setDays({ ...days, to })} />
      <Select
        label="Sent by"
        options={[
          { value: '', name: 'Everyone' },
          { value: 'false', name: 'Browsers' },
          { value: 'true', name: 'Bots and programs' },
        ]}
        chosen={query.bot ?? ''}
        onChoose={(bot) => apply({ bot: bot || undefined })}
      />
      <div class="filter-actions">
        <Button text="Find" type="submit" kind="primary" disabled={isReversed} />
        {showVisitor && typed.visitorId !== undefined && (
          <Button text="Visitor’s page" onClick={() => showVisitor(typed.visitorId ?? '')} />
        )}
        {hasFilters(query) && (
          <Button
            text="Clear"
            kind="quiet"
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
          />
        )}
      </div>
      {isReversed && <Failure>From must not be after To.</Failure>}
    </form>
  );
}
