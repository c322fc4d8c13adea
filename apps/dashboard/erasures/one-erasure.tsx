/** The receipt of an erasure: time, actor, number of records per domain, and the log entries that seal it. */
import { useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { ErasureDetails } from '#libs/privacy/contract';
import { useAttempt } from '../data/attempt.ts';
import { base } from '../data/base.ts';
import { domainIn } from '../data/domains.ts';
import { useLive, useReading } from '../data/query.ts';
import { erasuresAddress } from '../data/router.ts';
import { mayReadLogs } from '../data/scopes.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { downloadText } from '../download.ts';
import { count, counted, dateAndTime } from '../format.ts';
import { Actor } from '../parts/actor.tsx';
import { Button } from '../parts/button.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { useOnPaper } from '../parts/on-paper.ts';
import { PageHead } from '../parts/page-head.tsx';

/** Polling interval in milliseconds for an erasure that is running or not sealed yet. */
const pause = { running: 1_000, sealing: 2_000 };
/** Milliseconds within which the entries are expected: a log is sealed every minute. */
const sealedWithin = 10 * 60_000;
/** entries shown at a time */
const step = 20;

type OfDomain = ErasureDetails['domains'][string];

export function OneErasure({ erasureId }: { erasureId: string }) {
  const { api, organization } = useSignedIn();
  const read = (signal: AbortSignal) => api.erasure(erasureId, signal);
  const reading = useReading<ErasureDetails>(erasureId, read);
  const erasure = reading.value;
  const isYoung = erasure !== undefined && now() - Date.parse(erasure.erasedAt ?? erasure.requestedAt) < sealedWithin;
  const isRunning = erasure?.state === 'running';
  const isSealing = isYoung && Object.values(erasure.domains).some((of) => waitingIn(of) > 0);
  useLive(isRunning ? 'running' : isSealing ? 'sealing' : null, {
    ask: read,
    onAnswer: reading.put,
    interval: isRunning ? pause.running : pause.sealing,
  });
  const domains = Object.entries(erasure?.domains ?? {});
  return (
    <div class="stack receipt">
      <PageHead
        title="Receipt of an erasure"
        note="What was erased, when, and where that is sealed. Times are UTC."
        under={{ name: 'Erasures', address: erasuresAddress }}
      />
      <LoadingOrError reading={reading} kind="table" />
      {erasure && (
        <section class="card stack gap-16" aria-labelledby="receipt-title">
          <header class="card-head">
            <h2 id="receipt-title" class="anywhere">
              Erasure <code>{erasure.erasureId}</code>
            </h2>
            {erasure.state === 'running' && <p role="status">Running: {counted(erasure.records, 'record')} so far</p>}
          </header>
          <Facts>
            <Fact name="Organization">{isolated(organization.name)}</Fact>
            <Fact name="Requested">{dateAndTime(erasure.requestedAt)} UTC</Fact>
            <Fact name="Requested by">{erasure.actor === null ? '–' : <Actor of={erasure.actor} />}</Fact>
            <Fact name="Records erased">{count(erasure.records)}</Fact>
            <Fact name="Done">{erasure.erasedAt === null ? 'not yet' : `${dateAndTime(erasure.erasedAt)} UTC`}</Fact>
          </Facts>
          <p>
            Of these records the visitor’s id, IP address, browser, page and metadata were erased. The decisions, with
            their times, categories, country, versions, language and consent strings, are kept without them. Nothing
            here names the visitor.
          </p>
          {domains.map(([domainId, of]) => (
            <Domain key={domainId} domainId={domainId} of={of} isYoung={isYoung} />
          ))}
          <div class="actions">
            <Button text="Print" kind="primary" onClick={() => print()} />
          </div>
        </section>
      )}
    </div>
  );
}

/** Explains records whose erasure has no log entry. */
const waitingIn = ({ records, entries }: OfDomain): number => Math.max(0, records - entries.length);

/** `isYoung`: entries may still follow. */
function Domain({ domainId, of, isYoung }: { domainId: string; of: OfDomain; isYoung: boolean }) {
  const { api, organization } = useSignedIn();
  const [most, setMost] = useState(step);
  useOnPaper(() => setMost(Number.POSITIVE_INFINITY));
  const { isBusy, failure, attempt } = useAttempt();
  const { records, entries } = of;
  const download = ({ log, position }: OfDomain['entries'][number]) =>
    attempt(async () => {
      const proof = await api.entryProof(domainId, log, position);
      downloadText(`erasure-${domainId}-${log}-${position}.txt`, 'text/plain', proof);
    }, failureOf);
  return (
    <section class="stack gap-8" aria-label={domainIn(organization, domainId).name}>
      <h3>
        {isolated(domainIn(organization, domainId).name)} <code class="muted">{domainId}</code>
      </h3>
      <p>
        {counted(records, 'record')}
        {entries.length > 0 &&
          entries.length < records &&
          `, of which ${count(entries.length)} ${entries.length === 1 ? 'is' : 'are'} listed`}
      </p>
      {entries.length > 0 && (
        <ul class="rows receipt-entries">
          {entries.slice(0, most).map((entry) => (
            <li key={`${entry.log} ${entry.position}`} class="cluster spread">
              <span>
                Sealed as entry {count(entry.position)} of log {entry.log}
                {entry.erased && `: erased the record of entry ${count(entry.erased.position)}${ofLog(entry)}`}
              </span>
              {mayReadLogs(organization) && (
                <Button
                  text="Download proof"
                  aria-label={`Download proof of entry ${entry.position}`}
                  disabled={isBusy}
                  onClick={() => download(entry)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {entries.length > most && (
        <Button onClick={() => setMost(most + step)}>Show more of {count(entries.length)}</Button>
      )}
      {waitingIn(of) > 0 && entries.length === 0 && (
        <p class="muted">
          {isYoung
            ? 'Not sealed yet. If the log is sealed, the entries appear here within a minute or two.'
            : 'No entries are listed: the log is not sealed, or this erasure is from before receipts listed them.'}
        </p>
      )}
      {entries.length > 0 && (
        <p class="hint">
          {mayReadLogs(organization)
            ? 'Anybody who has the log’s key can check a proof without this service, for example at '
            : 'Proofs of these entries need a token with the scope read and a plan with the log. They are checked at '}
          <a href={`${base}/verify`}>{`${location.host}${base}/verify`}</a>.
        </p>
      )}
      <Failure>{failure}</Failure>
    </section>
  );
}

const ofLog = ({ log, erased }: OfDomain['entries'][number]): string =>
  erased && erased.log !== log ? ` of log ${erased.log}` : '';

const failureOf = (error: unknown): string =>
  error instanceof AssentError ? `The service did not give the proof: ${error.message}` : 'Something went wrong.';
