/** One notice as visitors saw it, its dates, and its differences from another one. */

import { readVersions, type Version } from '../data/banner-versions.ts';
import { valueName } from '../data/dimensions.ts';
import { useReading } from '../data/query.ts';
import { navigate, noticesAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, counted, dateAndTime, dayName, escapeInvisible } from '../format.ts';
import { Actor } from '../parts/actor.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Select } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { NoticeDocument, parseNotice } from '../parts/notice-document.tsx';
import { differenceOf, type Part } from './difference.ts';
import { type Listed, listNotices, readNotice, type WholeNotice } from './notice-reading.ts';

interface Props {
  domainId: string;
  day: string;
  hash: string;
  /** hash of the notice to compare it with */
  other: string | null;
}

export function OneNotice({ domainId, day, hash, other }: Props) {
  const { api } = useSignedIn();
  const reading = useReading(`${domainId} ${day} ${hash}`, async (signal) => {
    const [notice, versions, { notices }] = await Promise.all([
      readNotice(api, domainId, hash, signal),
      readVersions(api, domainId, signal),
      listNotices(api, domainId, { to: day, limit: 200 }, signal),
    ]);
    const published = versions.find(({ version }) => String(version) === notice.version);
    return { notice, published, others: notices.filter((each) => each.notice !== hash) };
  });
  const { value } = reading;
  return (
    <>
      <p>
        <a href={noticesAddress(domainId, { day })}>All notices of {dayName(day)}</a>
      </p>
      {reading.error?.code === 'notice_not_found' ? (
        <section class="card message">
          <h2>The service does not have this notice</h2>
          <p>No browser has sent it yet, or it was deleted because few records referred to it.</p>
        </section>
      ) : (
        <LoadingOrError reading={reading} kind="table" />
      )}
      {value && (
        <>
          <section class="card stack gap-16" aria-labelledby="notice-title">
            <h2 id="notice-title">{titleOf(value.notice)}</h2>
            <Facts>
              <Fact name="Known since">{dateAndTime(value.notice.firstSeenAt)} UTC</Fact>
              <Fact name="Records">{count(value.notice.records)}</Fact>
              {value.published && (
                <Fact name={`Version ${value.published.version}`}>
                  <Publication version={value.published} />
                </Fact>
              )}
              <Fact name="SHA-256" isWide>
                <code>{hash}</code>
              </Fact>
            </Facts>
            <NoticeDocument text={value.notice.text} />
          </section>
          <section class="card stack gap-16" aria-labelledby="compare-title">
            <h2 id="compare-title">What differs</h2>
            <Select
              class="full"
              label="Compare with"
              options={[{ value: '', name: 'Choose a notice' }, ...optionsOf(value.notice, value.others, other)]}
              chosen={other ?? ''}
              onChoose={(chosen) => navigate(noticesAddress(domainId, { day, notice: hash, with: chosen }))}
            />
            {other !== null && <Comparison key={other} domainId={domainId} notice={value.notice} other={other} />}
          </section>
        </>
      )}
    </>
  );
}

/** When a version was live, who published it, and the publisher's note. */
export const Publication = ({ version: { publishedAt, until, by, note, restored } }: { version: Version }) => (
  <>
    Live {until === null ? 'since' : 'from'} {dateAndTime(publishedAt)}
    {until !== null && ` to ${dateAndTime(until)}`} UTC, published by <Actor of={by} />
    {restored !== null && `, the same as version ${restored}`}
    {note !== null && <>: “{isolated(note)}”</>}
  </>
);

const titleOf = ({ language, version, variant }: Listed): string =>
  [valueName('language', { value: language }), version === null ? 'no version' : `version ${version}`, variant]
    .flatMap((part) => (part === null ? [] : [escapeInvisible(part)]))
    .join(', ');

/** Notices in the same language and variant come first. */
function optionsOf(notice: Listed, others: Listed[], chosen: string | null) {
  const likeness = (other: Listed) =>
    Number(other.language === notice.language) * 2 + Number(other.variant === notice.variant);
  const options = others
    .toSorted((one, two) => likeness(two) - likeness(one))
    .map((other) => ({
      value: other.notice,
      name: `${titleOf(other)}, known since ${dateAndTime(other.firstSeenAt)} (${other.notice.slice(0, 12)}…)`,
    }));
  const isThere = chosen === null || options.some(({ value }) => value === chosen);
  return isThere ? options : [{ value: chosen, name: `${chosen.slice(0, 12)}…` }, ...options];
}

function Comparison({ domainId, notice, other }: { domainId: string; notice: WholeNotice; other: string }) {
  const { api } = useSignedIn();
  const reading = useReading(`${domainId} ${other}`, (signal) => readNotice(api, domainId, other, signal));
  if (!reading.value) return <LoadingOrError reading={reading} kind="table" />;
  const isLater = reading.value.firstSeenAt > notice.firstSeenAt;
  const [before, after] = isLater ? [notice, reading.value] : [reading.value, notice];
  const { changed, same } = differenceOf(parseNotice(before.text) ?? {}, parseNotice(after.text) ?? {});
  return (
    <>
      <p role="status">
        From “{titleOf(before)}” ({dateAndTime(before.firstSeenAt)}) to “{titleOf(after)}” (
        {dateAndTime(after.firstSeenAt)}): {counted(changed.length, 'text')} changed, {count(same)} the same.
      </p>
      <ol class="stack gap-14 anywhere" lang={after.language ?? undefined}>
        {changed.map(({ place, parts }) => (
          <li key={place}>
            <p class="hint" lang="en">
              {escapeInvisible(place)}
            </p>
            <p dir="auto">{parts.map(marked)}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Screen readers announce it as an insertion or deletion. */
const marked = ({ text, is }: Part, at: number) => {
  if (is === 'same') return escapeInvisible(text);
  const Mark = is === 'added' ? 'ins' : 'del';
  return (
    <Mark key={at}>
      <span class="hidden">{is}: </span>
      {escapeInvisible(text)}
    </Mark>
  );
};
