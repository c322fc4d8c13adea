/** Who did what and when, newest first. */
import { useState } from 'preact/hooks';
import type { ActsPage } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/statistics';
import { type Act, type Part, tellAct } from '../../data/acts.ts';
import type { Api } from '../../data/api.ts';
import { useReading } from '../../data/reading.ts';
import { dateOf, escapeInvisible, timeOfDay } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { OrganizationTabs } from '../../parts/organization-tabs.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';

export function Activity({ api, organization }: { api: Api; organization: Organization }) {
  const reading = useReading<ActsPage>('acts', (signal) => api.manage.acts(undefined, signal));
  const [older, setOlder] = useState({ isLoading: false, hasFailed: false });
  const page = reading.value;
  const load = (cursor: string) => {
    if (older.isLoading || !page) return;
    setOlder({ isLoading: true, hasFailed: false });
    api.manage.acts(cursor).then(
      ({ acts, nextCursor }) => {
        reading.put({ acts: [...page.acts, ...acts], nextCursor });
        setOlder({ isLoading: false, hasFailed: false });
      },
      () => setOlder({ isLoading: false, hasFailed: true }),
    );
  };
  return (
    <>
      <PageHead
        title="Activity"
        note="Who changed something or looked at visitors’ records, newest first. Times are UTC."
        tabs={<OrganizationTabs organization={organization} page="activity" />}
      />
      {reading.error && <ErrorCard error={reading.error} retry={reading.retry} />}
      {!page && !reading.error && <Skeleton kind="table" isSlow={reading.isSlow} />}
      {page && page.acts.length === 0 && (
        <section class="card message">
          <h2>Nothing yet</h2>
          <p>Changes of domains, keys and webhooks are listed here, and who read or erased visitors’ records.</p>
        </section>
      )}
      {page && page.acts.length > 0 && (
        <section class="card activity" aria-label="Activity">
          <ol>
            {page.acts.map((act, at) => (
              <Row key={at} act={act} organization={organization} />
            ))}
          </ol>
          {page.nextCursor !== null && (
            <div class="activity-more">
              {older.hasFailed && <span role="alert">Older activity could not be loaded. </span>}
              <button
                type="button"
                class="button"
                disabled={older.isLoading}
                onClick={() => page.nextCursor !== null && load(page.nextCursor)}
              >
                {older.isLoading ? 'Loading…' : older.hasFailed ? 'Try again' : 'Older activity'}
              </button>
            </div>
          )}
        </section>
      )}
    </>
  );
}

function Row({ act, organization }: { act: Act; organization: Organization }) {
  const { what, more } = tellAct(act, organization);
  return (
    <li>
      <time dateTime={act.at}>
        {dateOf(act.at)} <strong>{timeOfDay(act.at)}</strong>
      </time>
      <p class="activity-actor">
        <bdi>{escapeInvisible(act.actor)}</bdi>
      </p>
      <div>
        <p>
          <Parts parts={what} />
        </p>
        {more && (
          <p class="hint">
            <Parts parts={more} />
          </p>
        )}
      </div>
    </li>
  );
}

const Parts = ({ parts }: { parts: Part[] }) => (
  <>{parts.map((part, at) => (typeof part === 'string' ? part : <bdi key={at}>{escapeInvisible(part.name)}</bdi>))}</>
);
