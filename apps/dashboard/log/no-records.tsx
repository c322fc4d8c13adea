/** Shown instead of records, or above a log that the plan limits. */

import type { ComponentChildren } from 'preact';
import type { RecordsPage } from '#libs/log/contract';
import { domainAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, counted, dateAndMinute, escapeInvisible } from '../format.ts';
import { ButtonLink } from '../parts/button.tsx';
import { hasFilters, type LogQuery } from './log-query.ts';

interface Props {
  query: LogQuery;
  answer: RecordsPage;
  isArchived: boolean;
  addressOf(query: LogQuery): string;
}

/** The reason why the page has no rows. */
export function NoRecords({ query, answer, isArchived, addressOf }: Props) {
  if (answer.total > 0)
    return (
      <Nothing title="This page is past the end">
        The log has {counted(answer.total, 'matching record')}.{' '}
        <a href={addressOf({ ...query, page: 1 })}>Go to the first page</a>
      </Nothing>
    );
  if (!hasFilters(query))
    return (
      <Nothing title="No records yet">
        {isArchived
          ? 'This domain was archived before anybody decided.'
          : 'Nobody has decided on this domain yet. Its statistics page shows the tag for the site.'}
      </Nothing>
    );
  if (!query.visitorId) return <Nothing title="No matching records">Try fewer filters or another period.</Nothing>;
  return (
    <Nothing title="No matching records">
      No record, and no visitor with records that match these filters, has exactly the id{' '}
      <bdi>“{escapeInvisible(query.visitorId)}”</bdi>.
    </Nothing>
  );
}

const Nothing = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="stack gap-6 nothing">
    <h2>{title}</h2>
    <p class="muted">{children}</p>
  </div>
);

interface LimitProps {
  cap: NonNullable<RecordsPage['cap']>;
  shown: number;
  total: number;
}

export function LimitReached({ cap, shown, total }: LimitProps) {
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

export function LogNotInPlan({ domainId }: { domainId: string }) {
  const { organization } = useSignedIn();
  return (
    <section class="card message plan-notice">
      <h2>Your plan does not include the log</h2>
      <p>
        The plan “{organization.plan.name}” counts decisions but does not show individual records. Every decision is
        still recorded and kept as proof. With a plan that includes the log, you can read all of them here, including
        earlier ones.
      </p>
      <ButtonLink text="Go to the statistics" kind="primary" href={domainAddress(domainId)} />
    </section>
  );
}
