/** The filters of the log. Selects apply at once, text fields with Enter or “Find”, which also finds a single record. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { useAttempt } from '../data/attempt.ts';
import { decisionNames, decisions } from '../data/decisions.ts';
import { findRecord } from '../data/find-record.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { Button } from '../parts/button.tsx';
import { DayField, Failure, Select, VisitorField } from '../parts/field.tsx';
import { hasFilters, type LogQuery } from './log-query.ts';

interface Props {
  domainId: string;
  query: LogQuery;
  show(query: LogQuery): void;
  showRecord(record: FullRecord): void;
  /** opens a visitor's page; absent if the token may not read visitors, whose ids are only a filter then */
  showVisitor: ((visitorId: string) => void) | undefined;
}

export function Filters({ domainId, query, show, showRecord, showVisitor }: Props) {
  const { api } = useSignedIn();
  const { isBusy, failure, attempt } = useAttempt();
  const [visitor, setVisitor] = useState(query.visitorId ?? '');
  const [days, setDays] = useState({ from: query.from ?? '', to: query.to ?? '' });
  // a layout effect, since a later one could overwrite typed text
  useLayoutEffect(() => setVisitor(query.visitorId ?? ''), [query.visitorId]);
  useLayoutEffect(() => setDays({ from: query.from ?? '', to: query.to ?? '' }), [query.from, query.to]);
  const isReversed = days.from !== '' && days.to !== '' && days.from > days.to;
  const apply = (changed: Partial<LogQuery>) => {
    if (!isReversed) show({ ...query, from: days.from || undefined, to: days.to || undefined, ...changed, page: 1 });
  };
  const find = async () => {
    const id = visitor.trim() || undefined;
    if (id === undefined || id === query.visitorId) return apply({ visitorId: id });
    const record = await findRecord(api, domainId, id);
    if (record) {
      setVisitor(query.visitorId ?? '');
      showRecord(record);
    } else if (showVisitor) showVisitor(id);
    else apply({ visitorId: id });
  };
  return (
    <form
      class="full filters card"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        attempt(find);
      }}
    >
      <VisitorField class="filter-wide" label="Visitor or record id" value={visitor} onType={setVisitor} />
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
        <Button text="Find" type="submit" kind="primary" disabled={isReversed || isBusy} />
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
      <Failure>{isReversed ? 'From must not be after To.' : failure}</Failure>
    </form>
  );
}
