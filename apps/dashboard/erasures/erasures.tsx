/** The list of erasures, newest first. They are listed by number, since the visitor's id is erased too. Needs a scope. */
import '../parts/activity.css';
import './erasures.css';
import type { ErasuresPage } from '#libs/privacy/contract';
import { useNextPage } from '../data/next-page.ts';
import { useReading } from '../data/query.ts';
import { erasureAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { counted, dateOf, timeOfDay } from '../format.ts';
import { Actor } from '../parts/actor.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { ThingsPage } from '../parts/things-page.tsx';

export { OneErasure } from './one-erasure.tsx';

export function AllErasures() {
  const { api } = useSignedIn();
  const reading = useReading<ErasuresPage>('erasures', (signal) => api.erasures(undefined, signal));
  const older = useNextPage(
    reading,
    (page) => page.nextCursor,
    (cursor) => api.erasures(cursor),
    (page, next) => ({ ...next, erasures: [...page.erasures, ...next.erasures] }),
  );
  return (
    <ThingsPage
      page="erasures"
      title="Erasures"
      note="Visitors who were erased, newest first, each with a receipt. Times are UTC."
      reading={reading}
      isEmpty={({ erasures }) => erasures.length === 0}
      none={{ title: 'No erasures yet', text: 'A visitor is erased on the page Visitor of a domain.' }}
    >
      {({ erasures, nextCursor }) => (
        <section class="card activity" aria-label="Erasures">
          <ol class="rows">
            {erasures.map(({ erasureId, requestedAt, actor, state, records }) => (
              <li key={erasureId}>
                <time dateTime={requestedAt} class="muted">
                  {dateOf(requestedAt)} <strong>{timeOfDay(requestedAt)}</strong>
                </time>
                <p class="strong">{actor === null ? '–' : <Actor of={actor} />}</p>
                <div>
                  <p>
                    <a href={erasureAddress(erasureId)}>
                      <code>{erasureId}</code>
                    </a>
                  </p>
                  <p class="hint">
                    {counted(records, 'record')}
                    {state === 'running' && ' so far'}
                  </p>
                </div>
              </li>
            ))}
          </ol>
          {nextCursor !== null && <LoadOlder older={older} what="erasures" />}
        </section>
      )}
    </ThingsPage>
  );
}
