/** The banner on a day: the versions published then, and the notices that visitors may have seen. */
import './notices.css';
import { dayOf } from '#libs/base/terms/calendar';
import { valueName } from '../data/dimensions.ts';
import { domainIn } from '../data/domains.ts';
import { useNextPage } from '../data/next-page.ts';
import { isPeriod } from '../data/periods.ts';
import { useReading } from '../data/query.ts';
import { navigate, noticesAddress } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, counted, dateAndTime, dayName } from '../format.ts';
import { DayField } from '../parts/field.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { type Day, type Listed, listNotices, readDay, type Shown } from './notice-reading.ts';
import { OneNotice, Publication } from './one-notice.tsx';

interface Props {
  domainId: string;
  query: URLSearchParams;
}

export function Notices({ domainId, query }: Props) {
  const { organization } = useSignedIn();
  const { archivedAt } = domainIn(organization, domainId);
  const today = dayOf(now());
  const asked = query.get('day');
  const isUnknown = asked !== null && !isDay(asked);
  const day = asked === null || isUnknown ? today : asked;
  const isAhead = day > today;
  // typing a date passes through several days: only the last one stays in the history
  const show = (chosen: string) => navigate(noticesAddress(domainId, { day: chosen }), { replace: true });
  const notice = query.get('notice');
  return (
    <>
      <PageHead
        note={isAhead ? `It is ${dayName(today)} (UTC)` : `What visitors were shown on ${dayName(day)} (UTC)`}
        domain={{ domainId, page: 'notices' }}
      />
      {archivedAt !== undefined && (
        <p class="notice">
          This domain has been archived since {dateAndTime(archivedAt)} UTC: its file shows no banner.
        </p>
      )}
      {isUnknown && <p class="notice">The address has no valid day, so this is today.</p>}
      {notice === null ? (
        <>
          <form class="cluster">
            <DayField
              label="Day"
              isInRow
              value={day}
              latest={today}
              onDay={(chosen) => isDay(chosen) && show(chosen)}
            />
          </form>
          {isAhead ? (
            <section class="card message">
              <h2>{dayName(day)} has not come yet</h2>
              <p>Choose today or a day in the past.</p>
            </section>
          ) : (
            <NoticesOfDay domainId={domainId} day={day} />
          )}
        </>
      ) : (
        <OneNotice key={notice} domainId={domainId} day={day} hash={notice} other={query.get('with')} />
      )}
    </>
  );
}

const isDay = (text: string) => isPeriod({ from: text, to: text });

interface DayProps {
  domainId: string;
  day: string;
}

function NoticesOfDay({ domainId, day }: DayProps) {
  const { api } = useSignedIn();
  const reading = useReading<Day>(`${domainId} ${day}`, (signal) => readDay(api, domainId, day, signal));
  const older = useNextPage(
    reading,
    (page) => page.nextCursor,
    (cursor) => listNotices(api, domainId, { to: day, limit: 100, cursor }),
    (page, next) => ({ ...page, ...next, notices: [...page.notices, ...next.notices] }),
  );
  const { value } = reading;
  if (!value) return <LoadingOrError reading={reading} kind="table" />;
  const isShown = ({ version }: Listed) => value.shown.some((each) => each.version === version);
  const earlier = value.notices.filter((notice) => notice.records > 0 && !isShown(notice));
  return (
    <div class={reading.isLate ? 'stack fading' : 'stack'} aria-busy={reading.isLoading}>
      {value.shown.length === 0 ? (
        <section class="card message">
          <h2>No notice is known for this day</h2>
          <p>
            No banner was published by then, and no decision of this day is stored. A notice is stored when the banner
            is published, or when the first visitor who saw it decides.
          </p>
        </section>
      ) : (
        <section class="card stack gap-14" aria-labelledby="shown-title">
          <h2 id="shown-title">Shown on this day</h2>
          <ul class="stack gap-6 anywhere">{value.shown.map(ShownVersion)}</ul>
          <p class="hint">
            Decisions are those of this day, without crawlers; records are those of all time, with crawlers. Both can be
            up to a minute behind.
          </p>
          <NoticeTable
            domainId={domainId}
            day={day}
            label="Notices of this day"
            notices={value.notices.filter(isShown)}
          />
        </section>
      )}
      {earlier.length > 0 && (
        <section class="card stack gap-14" aria-labelledby="earlier-title">
          <header class="card-head">
            <h2 id="earlier-title">Earlier notices</h2>
            <p class="muted">Their versions were not live on this day, and no decision of this day has them</p>
          </header>
          <NoticeTable domainId={domainId} day={day} label="Older ones" notices={earlier} />
        </section>
      )}
      {value.nextCursor !== null && <LoadOlder older={older} what="notices" />}
    </div>
  );
}

const ShownVersion = ({ version, published, decisions }: Shown) => (
  <li key={version}>
    <strong>{version === null ? 'No version' : <>Version {isolated(version)}</>}</strong>:{' '}
    {published ? <Publication version={published} /> : 'Not the live version of this day'}.{' '}
    {counted(decisions, 'decision')} on this day.
  </li>
);

/** Hidden on phones: the notice's own page shows it. */
const wide = { headClass: 'wide-only', class: 'wide-only' };

const NoticeTable = ({ domainId, day, label, notices }: DayProps & { label: string; notices: Listed[] }) => (
  <FramedTable
    class="flush"
    caption="Newest first"
    label={label}
    rows={notices}
    keyOf={({ notice }) => notice}
    columns={[
      {
        head: 'Language and variant',
        is: 'name',
        cell: ({ notice, language, variant, model }) => (
          <>
            <a href={noticesAddress(domainId, { day, notice })}>{valueName('language', { value: language })}</a>
            {variant !== null && <p class="hint">{isolated(variant)}</p>}
            {model !== null && <p class="hint">{valueName('model', { value: model })}</p>}
          </>
        ),
      },
      { head: 'Version', cell: ({ version }) => version !== null && isolated(version) },
      { head: 'Known since (UTC)', ...wide, cell: ({ firstSeenAt }) => dateAndTime(firstSeenAt) },
      { head: 'Records', is: 'number', cell: ({ records }) => count(records) },
      { head: 'SHA-256', ...wide, cell: ({ notice }) => <code>{notice.slice(0, 12)}…</code> },
    ]}
  />
);
