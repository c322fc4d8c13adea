/** The results of site checks: what is wrong and what to do, then everything that was noted, by step and by host. */
import './site-checks.css';
import type { ListedCheck, ShownCheck } from '#libs/banner/contract';
import { type Finding, findingsOf } from '#libs/widget/site-check';
import { useReading } from '../data/query.ts';
import { checksAddress, navigate, widgetAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { checksOf } from '../data/site-checks.ts';
import { count, counted, dateAndMinute } from '../format.ts';
import { Fact, Facts } from '../parts/facts.tsx';
import { Select } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { StepCard } from './step-card.tsx';
import { TakeOver } from './take-over.tsx';

interface Props {
  domainId: string;
  query: URLSearchParams;
}

interface Read {
  checks: ListedCheck[];
  shown: ShownCheck | null;
}

export function SiteChecks({ domainId, query }: Props) {
  const checks = checksOf(useSignedIn().api, domainId);
  const asked = query.get('check');
  const reading = useReading<Read>(`${domainId} ${asked}`, async (signal) => {
    const list = await checks.list({ limit: 100 }, signal);
    const checkId = asked ?? list[0]?.checkId;
    return { checks: list, shown: checkId === undefined ? null : await checks.one(checkId, signal) };
  });
  const { value } = reading;
  return (
    <>
      <PageHead
        note="What the site did before the choice, after “Reject all” and after “Accept all”. Times are UTC."
        domain={{ domainId, page: 'checks' }}
      />
      {reading.error?.code === 'check_not_found' ? (
        <section class="card message">
          <h2>There is no such check</h2>
          <p>
            A domain keeps its newest 100. <a href={checksAddress(domainId)}>See the newest</a>
          </p>
        </section>
      ) : (
        <LoadingOrError reading={reading} kind="page" />
      )}
      {value && !value.shown && (
        <section class="card message">
          <h2>The site has not been checked yet</h2>
          <p>
            <a href={widgetAddress(domainId)}>Check it from its widget page</a>
          </p>
        </section>
      )}
      {value?.shown && (
        <>
          {value.checks.length > 1 && (
            <Select
              label="Check"
              options={value.checks.map(({ checkId, checkedAt, by }) => ({
                value: checkId,
                name: `${dateAndMinute(checkedAt)}, ${by}`,
              }))}
              chosen={value.shown.checkId}
              onChoose={(check) => navigate(checksAddress(domainId, { check }))}
            />
          )}
          <OneCheck key={value.shown.checkId} domainId={domainId} check={value.shown} />
        </>
      )}
    </>
  );
}

const levels: [Finding['level'], string][] = [
  ['fault', 'Fault'],
  ['hint', 'Hint'],
  ['information', 'Information'],
];

function OneCheck({ domainId, check }: { domainId: string; check: ShownCheck }) {
  const { result, checkedAt, by, bannerVersion, sha256 } = check;
  const findings = findingsOf(result.steps);
  const faults = findings.filter(({ level }) => level === 'fault').length;
  return (
    <>
      <section class="card stack gap-16" aria-labelledby="found-title">
        <h2 id="found-title">{faults === 0 ? 'No faults found' : counted(faults, 'fault')}</h2>
        {levels.map(([level, name]) => {
          const some = findings.filter((each) => each.level === level);
          return (
            some.length > 0 && (
              <ul key={level} class="stack gap-14 check-findings" aria-label={`${name}s`}>
                {some.map(({ what, advice }) => (
                  <li key={what} class={`check-${level}`}>
                    <strong>{name}:</strong> {isolated(what)}
                    {advice && <p class="muted">{advice}</p>}
                  </li>
                ))}
              </ul>
            )
          );
        })}
        <TakeOver domainId={domainId} check={check} />
      </section>
      {result.steps.map((step) => (
        <StepCard key={step.step} step={step} />
      ))}
      <section class="card stack gap-16" aria-labelledby="about-title">
        <h2 id="about-title">About this check</h2>
        <Facts>
          <Fact name="Checked">{dateAndMinute(checkedAt)} UTC</Fact>
          <Fact name="By">{isolated(by)}</Fact>
          <Fact name="Site">{isolated(result.origin)}</Fact>
          <Fact name="Published banner">
            {bannerVersion === null ? 'none: the page itself has the settings' : `version ${count(bannerVersion)}`}
          </Fact>
          <Fact name="Opt-out signal of the browser">{result.gpc ? 'on' : 'off'}</Fact>
          <Fact name="SHA-256" isWide>
            <code>{sha256}</code>
          </Fact>
        </Facts>
        <p class="hint">
          Not seen: frames of other sites, workers, redirects, requests while a page closes, cookies that scripts cannot
          read, and what servers exchange. Every script of the site can read the ticket of a check, and could store a
          forged result.
        </p>
      </section>
    </>
  );
}
