import type { RecordsPage } from '#libs/contract/responses';
import { count, dateAndMinute } from '../../format.ts';

export function LimitReached({
  cap,
  shown,
  total,
}: {
  cap: NonNullable<RecordsPage['cap']>;
  shown: number;
  total: number;
}) {
  return (
    <section class="card plan-notice">
      <h2>This month’s limit is reached: the log shows its newest {count(shown)} records</h2>
      <p>
        Your plan has {count(cap.limit)} records a month, and {count(cap.used)} were recorded. Until{' '}
        <strong>{dateAndMinute(cap.resetsAt)} UTC</strong> the log of this domain shows {count(shown)} of {count(total)}{' '}
        records, without pages and filters. Recording goes on, and nothing is lost: all records can be read again after
        that, or with a larger plan.
      </p>
    </section>
  );
}
