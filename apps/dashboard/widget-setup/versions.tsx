/** The published versions of a domain's banner with their periods, and the restore of one. */
import { useState } from 'preact/hooks';
import type { BannerVersion, VersionsPage } from '#libs/banner/contract';
import { useAttempt } from '../data/attempt.ts';
import { useNextPage } from '../data/next-page.ts';
import { useReading } from '../data/query.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndMinute } from '../format.ts';
import { Actor } from '../parts/actor.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Select } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { bannerOf, type Published } from './banner-api.ts';
import { ChangeList } from './change-list.tsx';
import { changesBetween } from './draft/changes.ts';
import { PublishDialog } from './publish-dialog.tsx';

interface Props {
  domainId: string;
  live: Published;
  /** whether versions may be restored */
  mayPublish: boolean;
  refreshLive(): Promise<Published | null>;
}

/** `before`: the previous version; null for the first. */
type Opened = { shown: Published; before: Published | null; live: Published; isPutBack: boolean } | null;

export function Versions({ domainId, live, mayPublish, refreshLive }: Props) {
  const banner = bannerOf(useSignedIn().api, domainId);
  const reading = useReading<VersionsPage>(`${domainId} ${live.version}`, (signal) => banner.versions({}, signal));
  const older = useNextPage(
    reading,
    (page) => page.nextCursor,
    (cursor) => banner.versions({ cursor }),
    (page, next) => ({ ...next, versions: [...page.versions, ...next.versions] }),
  );
  const { failure, attempt } = useAttempt();
  const [opened, setOpened] = useState<Opened>(null);
  const open = (number: number, isPutBack: boolean) =>
    attempt(async () => {
      const before = number > 1 && !isPutBack ? banner.version(number - 1) : null;
      const [shown, former, now] = await Promise.all([banner.version(number), before, refreshLive()]);
      setOpened({ shown, before: former, live: now ?? live, isPutBack });
    });
  const versions = reading.value?.versions ?? [];
  return (
    <section class="card stack gap-14" aria-labelledby="versions-title">
      <header class="card-head">
        <h2 id="versions-title">Versions</h2>
        <p class="muted">Newest first, times are UTC. Records have the number as their banner version.</p>
      </header>
      <LoadingOrError reading={reading} kind="table" />
      <Failure>{failure}</Failure>
      <ol class="rows after-head">
        {versions.map((version, at) => (
          <li key={version.version} class="cluster spread widget-version">
            <About version={version} until={versions[at - 1]?.publishedAt ?? null} />
            <div class="actions tight">
              <Button onClick={() => open(version.version, false)}>
                Changes<span class="hidden"> of version {count(version.version)}</span>
              </Button>
              {mayPublish && at > 0 && (
                <Button onClick={() => open(version.version, true)}>
                  Put back…<span class="hidden"> version {count(version.version)}</span>
                </Button>
              )}
            </div>
          </li>
        ))}
      </ol>
      {reading.value && reading.value.nextCursor !== null && <LoadOlder older={older} what="versions" />}
      {opened && !opened.isPutBack && <Compared {...opened} onClose={() => setOpened(null)} />}
      {opened?.isPutBack && (
        <PublishDialog
          domainId={domainId}
          title={`Put version ${count(opened.shown.version)} back?`}
          action="Put back"
          live={opened.live}
          settings={opened.shown.settings}
          publish={(note) => banner.publish({ version: opened.shown.version, note }, String(opened.live.version))}
          onPublished={refreshLive}
          onClose={() => setOpened(null)}
        />
      )}
    </section>
  );
}

/** `until`: when the next one was published; null for the live one. */
const About = ({ version, until }: { version: BannerVersion; until: string | null }) => (
  <div class="stack gap-2">
    <p>
      <strong>Version {count(version.version)}</strong>
      {until === null && <span class="tag">Live</span>}
      {version.restored !== null && <span class="tag">Version {count(version.restored)} again</span>}
      {version.asksAgain && <span class="tag">Asked again</span>}
    </p>
    {version.note !== null && <p>{isolated(version.note)}</p>}
    <p class="hint">
      {until === null
        ? `Since ${dateAndMinute(version.publishedAt)}`
        : `${dateAndMinute(version.publishedAt)} – ${dateAndMinute(until)}`}
      , by <Actor of={version.by} />
    </p>
  </div>
);

interface ComparedProps extends NonNullable<Opened> {
  onClose(): void;
}

/** Compares one version with the previous one, or with the live one. */
function Compared({ shown, before, live, onClose }: ComparedProps) {
  const [to, setTo] = useState<string>('before');
  const name = `Version ${count(shown.version)}`;
  const other = to === 'live' ? live : before;
  const otherName = other ? `Version ${count(other.version)}` : 'The widget as it comes';
  const changes = changesBetween(other?.settings ?? {}, shown.settings);
  return (
    <Dialog title={name} isBusy={false} onClose={onClose}>
      <Select
        label="Compared with"
        options={[
          { value: 'before', name: before ? 'the version before' : 'the widget as it comes' },
          ...(live.version === shown.version ? [] : [{ value: 'live', name: 'the live version' }]),
        ]}
        chosen={to}
        onChoose={setTo}
      />
      {changes.length === 0 ? (
        <p>They do not differ.</p>
      ) : (
        <ChangeList changes={changes} before={otherName} after={name} />
      )}
      <div class="actions">
        <Button text="Close" kind="primary" onClick={onClose} />
      </div>
    </Dialog>
  );
}
