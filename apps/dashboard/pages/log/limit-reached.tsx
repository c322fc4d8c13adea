import type { RecordsPage } from '#libs/contract/log';
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
    <section class="card message plan-notice">
      <h2>Monthly limit reached: the log shows only its newest {count(shown)} records</h2>
      <p>
        Your plan includes {count(cap.limit)} records a month, and {count(cap.used)} were recorded. Until{' '}
        <strong>{dateAndMinute(cap.resetsAt)} UTC</strong> the log of this domain shows {count(shown)} of {count(total)}{' '}
        records, without pages and filters. Recording continues and nothing is lost: after that, or with a larger plan,
        you can read all records again.
      </p>
    </section>
  );
}
