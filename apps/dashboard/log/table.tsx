/** A page of the log. Only the rows that fit on a screen are part of the first render; the others follow at once. */

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { visitorAddress } from '../data/router.ts';
import { dateOf, escapeInvisible, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DecisionName } from '../parts/decision-name.tsx';
import { isolated } from '../parts/isolated.tsx';
import { memo } from '../parts/memo.ts';

interface Props {
  records: FullRecord[];
  /** the visitors' ids lead to their pages */
  hasVisitors: boolean;
  onOpen(record: FullRecord): void;
}

/** More rows than fit on a screen. */
const firstRows = 30;

export const LogTable = memo(function LogTable({ records, hasVisitors, onOpen }: Props) {
  // those before stay until then, or the page would be lower for a moment, and scrolled elsewhere
  const [completed, setCompleted] = useState<FullRecord[]>([]);
  const first = useMemo(() => records.slice(0, firstRows), [records]);
  const rest = useMemo(() => completed.slice(firstRows), [completed]);
  // an effect runs after the first rows have been painted
  useEffect(() => setCompleted(records), [records]);
  return (
    <div class="table-frame">
      <table class="as-cards log">
        <caption class="hidden">Consent records, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Decided (UTC)</th>
            <th scope="col">Decision</th>
            <th scope="col">Visitor</th>
            <th scope="col">Allowed</th>
            <th scope="col">Page</th>
            <th scope="col">
              <span class="hidden">Details</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Rows records={first} hasVisitors={hasVisitors} onOpen={onOpen} />
          {records.length > firstRows && <Rows records={rest} hasVisitors={hasVisitors} onOpen={onOpen} />}
        </tbody>
      </table>
    </div>
  );
});

const Rows = memo(function Rows({ records, hasVisitors, onOpen }: Props) {
  return (
    <>
      {records.map((record) => {
        const time = timeOfDay(record.decidedAt);
        return (
          <tr key={record.id}>
            <td class="digits">
              <time dateTime={record.decidedAt}>
                {dateOf(record.decidedAt)} <strong>{time}</strong>
              </time>
            </td>
            <td>
              <DecisionName decision={record.decision} />
            </td>
            <td class="clipped">
              {record.visitorId === null ? (
                <span class="muted">–</span>
              ) : hasVisitors ? (
                <a href={visitorAddress(record.domainId, record.visitorId)}>{isolated(record.visitorId)}</a>
              ) : (
                isolated(record.visitorId)
              )}
              {record.bot && <span class="tag"> bot</span>}
            </td>
            <td class="clipped">{allowed(record)}</td>
            <td class="clipped">
              {record.pageUrl === null ? <span class="muted">–</span> : isolated(pathOf(record.pageUrl))}
            </td>
            <td class="number">
              <Button
                text="Details"
                kind="quiet"
                aria-label={`Details of the record from ${time}`}
                onClick={() => onOpen(record)}
              />
            </td>
          </tr>
        );
      })}
    </>
  );
});

function allowed({ preferences }: FullRecord) {
  if (preferences === null) return <span class="muted">–</span>;
  const names = Object.entries(preferences).flatMap(([name, isOn]) => (isOn ? [escapeInvisible(name)] : []));
  return names.length > 0 ? names.join(', ') : <span class="muted">nothing</span>;
}

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url);
