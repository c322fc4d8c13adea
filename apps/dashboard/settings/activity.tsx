/** The acts of the organization, newest first: changes, exports and erasures, and on request also reads. */
import '../parts/activity.css';

import type { ActsPage } from '#libs/tenants/contract';
import { useNextPage } from '../data/next-page.ts';
import { useReading } from '../data/query.ts';
import { activityAddress, erasureAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dateOf, escapeInvisible, hourAndMinute, timeOfDay } from '../format.ts';
import { Actor, actorNamed, isPerson, nameOfPerson, usePeople } from '../parts/actor.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { ThingsPage } from '../parts/things-page.tsx';
import { type Line, linesOf } from './act-lines.ts';
import { ActivityFilters, askedFor, filtersIn } from './activity-filters.tsx';
import { describeAct, type Part } from './acts.ts';

interface Props {
  query: URLSearchParams;
  /** only acts about this visitor */
  visitorId: string | null;
}

export function Activity({ query, visitorId }: Props) {
  const { api, organization } = useSignedIn();
  const filters = filtersIn(query);
  const read = async (cursor?: string, signal?: AbortSignal) => {
    if (visitorId !== null) return api.actsAbout(visitorId, cursor, signal);
    const actor = filters.actor && { actor: await actorNamed(api, organization, filters.actor) };
    return api.manage.acts(askedFor({ ...filters, ...actor }), cursor, signal);
  };
  const reading = useReading<ActsPage>(JSON.stringify([filters, visitorId]), (signal) => read(undefined, signal));
  const older = useNextPage(
    reading,
    (page) => page.nextCursor,
    (cursor) => read(cursor),
    (page, next) => ({ ...next, acts: [...page.acts, ...next.acts] }),
  );
  const isAll = visitorId === null && Object.keys(filters).length === 0;
  const isWithoutReads = visitorId === null && filters.act === undefined;
  return (
    <ThingsPage
      page="activity"
      title="Activity"
      note={
        isWithoutReads ? (
          <>
            Who changed, exported or erased something, newest first. Times are UTC.{' '}
            <a href={activityAddress({ ...filters, act: 'all' })}>Show who read records, too</a>
          </>
        ) : (
          'Who changed something or looked at visitors’ records, newest first. Times are UTC.'
        )
      }
      filters={<ActivityFilters filters={filters} visitorId={visitorId} />}
      reading={reading}
      isEmpty={({ acts }) => acts.length === 0}
      none={
        isAll
          ? {
              title: 'Nothing yet',
              text: 'Changes of domains, keys and webhooks are listed here, and who exported or erased visitors’ records.',
            }
          : visitorId === null
            ? { title: 'No activity matches', text: 'Nothing was done that all of these filters match.' }
            : {
                title: 'Nothing is noted about this visitor',
                text: 'Nobody has looked up, downloaded, exported or erased exactly this visitor’s records.',
              }
      }
    >
      {({ acts, nextCursor }) => (
        <section class="card activity" aria-label="Activity">
          <ol class="rows">
            {linesOf(acts).map((line, at) => (
              <Row key={at} {...line} />
            ))}
          </ol>
          {nextCursor !== null && <LoadOlder older={older} what="activity" />}
        </section>
      )}
    </ThingsPage>
  );
}

function Row({ act, since }: Line) {
  const people = usePeople(isPerson(act.subject));
  const { what, more } = describeAct(act, useSignedIn().organization, nameOfPerson(people, act.subject));
  return (
    <li>
      <time dateTime={act.at} class="muted">
        {dateOf(act.at)} <strong>{since === null ? timeOfDay(act.at) : minutesOfDay(since, act.at)}</strong>
      </time>
      <p class="strong">
        <Actor of={act.actor} />
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

/** `09:42–09:46` */
function minutesOfDay(from: string, to: string): string {
  const [first, last] = [hourAndMinute(from), hourAndMinute(to)];
  return first === last ? first : `${first}–${last}`;
}

const Parts = ({ parts }: { parts: Part[] }) => (
  <>
    {parts.map((part, at) => {
      if (typeof part === 'string') return part;
      const name = <bdi key={at}>{escapeInvisible(part.name)}</bdi>;
      if (!part.isErasure) return name;
      return (
        <a key={at} href={erasureAddress(part.name)}>
          {name}
        </a>
      );
    })}
  </>
);
