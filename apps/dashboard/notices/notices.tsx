/** What the banner said on a day: what was published then, and the notices that visitors may have seen. */
import './notices.css';
import { useState } from 'preact/hooks';
import { dayOf } from '#libs/base/terms/calendar';
import { valueName } from '../data/dimensions.ts';
import { useOlder } from '../data/older.ts';
import { isPeriod } from '../data/periods.ts';
import { useReading } from '../data/query.ts';
import { navigate, noticesAddress } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, counted, dateAndTime, dayName } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DayField } from '../parts/field.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Unanswered } from '../parts/unanswered.tsx';
import { type Day, type Listed, listNotices, readDay, type Shown } from './notice-reading.ts';
import { OneNotice, Publication } from './one-notice.tsx';

interface Props {
  domainId: string;
  query: URLSearchParams;
}

export function Notices({ domainId, query }: Props) {
  const asked = query.get('day') ?? '';
  const day = isPeriod({ from: asked, to: asked }) ? asked : dayOf(now());
  const notice = query.get('notice');
  return (
    <>
      <PageHead note={`What visitors were shown on ${dayName(day)} (UTC)`} domain={{ domainId, page: 'notices' }} />
      {notice === null ? (
        <>
          <DayForm key={day} domainId={domainId} day={day} />
          <NoticesOfDay domainId={domainId} day={day} />
        </>
      ) : (
        <OneNotice key={notice} domainId={domainId} day={day} hash={notice} other={query.get('with')} />
      )}
    </>
  );
}

interface DayProps {
  domainId: string;
  day: string;
}

function DayForm({ domainId, day }: DayProps) {
  const [chosen, setChosen] = useState(day);
  return (
    <form
      class="cluster"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(noticesAddress(domainId, { day: chosen }));
      }}
    >
      <DayField label="Day" isInRow value={chosen} onDay={setChosen} />
      <Button text="Show" type="submit" disabled={chosen === day || !isPeriod({ from: chosen, to: chosen })} />
    </form>
  );
}

function NoticesOfDay({ domainId, day }: DayProps) {
  const { api } = useSignedIn();
  const reading = useReading<Day>(`${domainId} ${day}`, (signal) => readDay(api, domainId, day, signal));
  const older = useOlder(
    reading,
    (page) => page.nextCursor,
    (cursor) => listNotices(api, domainId, { to: day, limit: 100, cursor }),
    (page, next) => ({ ...page, ...next, notices: [...page.notices, ...next.notices] }),
  );
  const { value } = reading;
  if (!value) return <Unanswered reading={reading} kind="table" />;
  const isShown = ({ version }: Listed) => value.shown.some((each) => each.version === version);
  const earlier = value.notices.filter((notice) => notice.records > 0 && !isShown(notice));
  return (
    <div class={reading.isLate ? 'stack fading' : 'stack'} aria-busy={reading.isLoading}>
      {value.shown.length === 0 && <NothingShown />}
      {value.shown.length > 0 && (
        <section class="card stack gap-14" aria-labelledby="shown-title">
          <h2 id="shown-title">Shown on this day</h2>
          <ul class="stack gap-6 anywhere">{value.shown.map(ShownVersion)}</ul>
          <NoticeTable domainId={domainId} day={day} notices={value.notices.filter(isShown)} />
        </section>
      )}
      {earlier.length > 0 && (
        <section class="card stack gap-14" aria-labelledby="earlier-title">
          <header class="card-head">
            <h2 id="earlier-title">Earlier notices</h2>
            <p class="muted">Of versions that no decision of this day has</p>
          </header>
          <NoticeTable domainId={domainId} day={day} notices={earlier} />
        </section>
      )}
      {value.nextCursor !== null && <LoadOlder older={older} what="notices" />}
    </div>
  );
}

const NothingShown = () => (
  <section class="card message">
    <h2>Nothing was shown on this day</h2>
    <p>
      No banner was published by then, and no decision of this day is stored. A notice is stored when the banner is
      published, or when the first visitor who saw it decides.
    </p>
  </section>
);

const ShownVersion = ({ version, published, decisions }: Shown) => (
  <li key={version}>
    <strong>{valueName('bannerVersion', { value: version })}</strong>, {counted(decisions, 'decision')} on this day.{' '}
    {published ? (
      <Publication version={published} />
    ) : (
      <span class="muted">Not published as the live version then.</span>
    )}
  </li>
);

const NoticeTable = ({ domainId, day, notices }: DayProps & { notices: Listed[] }) => (
  <FramedTable
    class="flush"
    caption="Notices, newest first"
    label="Notices"
    rows={notices}
    keyOf={({ notice }) => notice}
    columns={[
      {
        head: 'Language',
        is: 'name',
        cell: ({ notice, language }) => (
          <a href={noticesAddress(domainId, { day, notice })}>{valueName('language', { value: language })}</a>
        ),
      },
      { head: 'Version', cell: ({ version }) => version !== null && isolated(version) },
      { head: 'Variant', cell: ({ variant }) => variant !== null && isolated(variant) },
      { head: 'First seen (UTC)', cell: ({ firstSeenAt }) => dateAndTime(firstSeenAt) },
      { head: 'Records', is: 'number', cell: ({ records }) => count(records) },
      { head: 'SHA-256', cell: ({ notice }) => <code>{notice.slice(0, 12)}…</code> },
    ]}
  />
);
