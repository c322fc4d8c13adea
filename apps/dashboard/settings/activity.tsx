/** Who did what and when, newest first. */
import type { ActsPage } from '#libs/tenants/contract';
import { useOlder } from '../data/older.ts';
import { useReading } from '../data/reading.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dateOf, escapeInvisible, timeOfDay } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { LoadOlder } from '../parts/older.tsx';
import { ThingsPage } from '../parts/things-page.tsx';
import { type Act, type Part, tellAct } from './acts.ts';

export function Activity() {
  const { api } = useSignedIn();
  const reading = useReading<ActsPage>('acts', (signal) => api.manage.acts(undefined, signal));
  const page = reading.value;
  const cursorOf = () => page?.nextCursor;
  const older = useOlder(cursorOf, async (cursor) => {
    const { acts, nextCursor } = await api.manage.acts(cursor);
    reading.put({ acts: [...(page?.acts ?? []), ...acts], nextCursor });
  });
  return (
    <ThingsPage
      page="activity"
      title="Activity"
      note="Who changed something or looked at visitors’ records, newest first. Times are UTC."
      reading={reading}
      isEmpty={({ acts }) => acts.length === 0}
      none={{
        title: 'Nothing yet',
        text: 'Changes of domains, keys and webhooks are listed here, and who read or erased visitors’ records.',
      }}
    >
      {({ acts, nextCursor }) => (
        <section class="card activity" aria-label="Activity">
          <ol class="rows">
            {acts.map((act, at) => (
              <Row key={at} act={act} />
            ))}
          </ol>
          {nextCursor !== null && <LoadOlder older={older} what="activity" />}
        </section>
      )}
    </ThingsPage>
  );
}

function Row({ act }: { act: Act }) {
  const { what, more } = tellAct(act, useSignedIn().organization);
  return (
    <li>
      <time dateTime={act.at} class="muted">
        {dateOf(act.at)} <strong>{timeOfDay(act.at)}</strong>
      </time>
      <p class="strong">{isolated(act.actor)}</p>
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
