/** A page of the log. The first render contains only the rows that fit on a screen; the others follow at once. */

import { useEffect, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { categoryLabel } from '../data/category-names.ts';
import { visitorAddress } from '../data/router.ts';
import { dateOf, escapeInvisible, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DecisionName } from '../parts/decision-name.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { isolated } from '../parts/isolated.tsx';
import { memo } from '../parts/memo.ts';

interface Props {
  records: FullRecord[];
  /** whether visitors' ids link to their pages */
  hasVisitors: boolean;
  onOpen(record: FullRecord): void;
}

/** More rows than fit on a screen. */
const firstRows = 30;

export const LogTable = memo(function LogTable({ records, hasVisitors, onOpen }: Props) {
  // the previous rows stay until then: a shorter page would lose its scroll position
  const [completed, setCompleted] = useState<FullRecord[]>([]);
  // an effect, which runs after the first rows are painted
  useEffect(() => setCompleted(records), [records]);
  const rest = records.length > firstRows ? completed.slice(firstRows) : [];
  return (
    <FramedTable
      class="as-cards log"
      caption="Consent records, newest first"
      rows={[...records.slice(0, firstRows), ...rest]}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Decided (UTC)',
          class: 'digits',
          cell: ({ decidedAt }) => (
            <time dateTime={decidedAt}>
              {dateOf(decidedAt)} <strong>{timeOfDay(decidedAt)}</strong>
            </time>
          ),
        },
        { head: 'Decision', cell: ({ decision }) => <DecisionName decision={decision} /> },
        { head: 'Visitor', class: 'clipped', cell: (record) => visitor(record, hasVisitors) },
        { head: 'Allowed', class: 'clipped', cell: allowed },
        {
          head: 'Page',
          class: 'clipped',
          cell: ({ pageUrl }) => (pageUrl === null ? none : isolated(pathOf(pageUrl))),
        },
        {
          head: <span class="hidden">Details</span>,
          class: 'number',
          cell: (record) => (
            <Button
              text="Details"
              kind="quiet"
              aria-label={`Details of the record from ${timeOfDay(record.decidedAt)}`}
              onClick={() => onOpen(record)}
            />
          ),
        },
      ]}
    />
  );
});

const none = <span class="muted">–</span>;

const visitor = ({ domainId, visitorId, bot }: FullRecord, hasVisitors: boolean) => (
  <>
    {visitorId === null ? (
      none
    ) : hasVisitors ? (
      <a href={visitorAddress(domainId, visitorId)}>{isolated(visitorId)}</a>
    ) : (
      isolated(visitorId)
    )}
    {bot && <span class="tag"> bot</span>}
  </>
);

function allowed({ preferences }: FullRecord) {
  if (preferences === null) return none;
  const names = Object.entries(preferences).flatMap(([name, isOn]) =>
    isOn ? [categoryLabel(name) ?? escapeInvisible(name)] : [],
  );
  return names.length > 0 ? names.join(', ') : <span class="muted">nothing</span>;
}

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url);
