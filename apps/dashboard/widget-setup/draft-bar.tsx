/** The bar below the draft: its state, its errors, and the buttons that save, discard and publish it. */
import { useRef, useState } from 'preact/hooks';
import { sentence } from '../data/api-error.ts';
import { useAttempt } from '../data/attempt.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndMinute } from '../format.ts';
import { Actor } from '../parts/actor.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/field.tsx';
import { useFocusAfter } from '../parts/focus.tsx';
import { bannerOf, type Published, type Saved } from './banner-api.ts';
import { ChangeList } from './change-list.tsx';
import { changesBetween, isSameBanner, placeOf } from './draft/changes.ts';
import type { DraftState } from './draft/use-draft.ts';
import { PublishDialog } from './publish-dialog.tsx';

interface Props {
  domainId: string;
  isArchived: boolean;
  state: DraftState;
  live: Published | null;
  refreshLive(): Promise<Published | null>;
}

/** The version in the publish dialog. */
interface Asked {
  publish: Saved;
  live: Published | null;
}

export function DraftBar({ domainId, isArchived, state, live, refreshLive }: Props) {
  const { api } = useSignedIn();
  const banner = bannerOf(api, domainId);
  const { failure, attempt } = useAttempt();
  const [asked, setAsked] = useState<Asked | null>(null);
  const { draft, isChanged, faults, theirs, save, discard } = state;
  // the discard button disappears with the changes
  const bar = useRef<HTMLElement>(null);
  useFocusAfter(isChanged, () => bar.current?.querySelector('button'));
  const askToPublish = async () => {
    const saved = isChanged ? await save() : { draft, tag: state.tag };
    if (saved) setAsked({ publish: saved, live: await refreshLive() });
  };
  const publish = async ({ draft: seen, tag }: Saved, note: string | null) => {
    // a draft that somebody else has changed is shown before it can be published
    const now = await banner.draft();
    if (now.tag === tag || isSameBanner(now.draft, seen)) return banner.publish({ note }, now.tag);
    await state.meet(now);
    return null;
  };
  const isLive = live !== null && isSameBanner(draft, live.settings);
  return (
    <section ref={bar} class="card widget-bar" aria-label="The draft">
      {faults.length > 0 && (
        <div role="alert">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
          <section class="notice notice-bad widget-faults" aria-label="What is wrong" tabIndex={0}>
            <p class="strong">Not saved. These settings need a change:</p>
            <ul class="points">
              {faults.map(({ path, message }) => (
                <li key={path + message}>
                  {placeOf(path, draft)}: {sentence(message)}
                </li>
              ))}
            </ul>
          </section>
        </div>
      )}
      <Failure>{failure}</Failure>
      <div class="cluster">
        <p role="status" class="widget-state">
          {isChanged
            ? 'Unsaved changes: only this tab has them.'
            : isLive
              ? `Saved. It is what version ${count(live.version)} shows, which is live.`
              : live
                ? `Saved. It is not published: version ${count(live.version)} is live.`
                : 'Nothing is published yet.'}
        </p>
        {isChanged && <Button text="Discard" onClick={discard} />}
        {/* never disabled: a disabled button loses the focus */}
        <Button text="Save draft" onClick={() => isChanged && attempt(save)} />
        {!isArchived && <Button text="Publish…" kind="primary" onClick={() => attempt(askToPublish)} />}
      </div>
      {asked && (
        <PublishDialog
          domainId={domainId}
          title={asked.live ? 'Publish these changes?' : 'Publish this banner?'}
          action="Publish"
          live={asked.live}
          settings={asked.publish.draft}
          publish={(note) => publish(asked.publish, note)}
          onPublished={refreshLive}
          onClose={() => setAsked(null)}
        />
      )}
      {theirs && (
        <Conflict
          state={state}
          theirs={theirs}
          live={live}
          onTaken={() => setAsked(null)}
          onSaved={(publish) => asked && setAsked({ publish, live })}
        />
      )}
    </section>
  );
}

interface ConflictProps {
  state: DraftState;
  theirs: Saved;
  live: Published | null;
  onTaken(): void;
  onSaved(mine: Saved): void;
}

/** The two versions of a draft that two people have changed at the same time. */
function Conflict({ state, theirs, live, onTaken, onSaved }: ConflictProps) {
  const { isBusy, failure, attempt } = useAttempt();
  const keepTheirs = () => {
    state.take(theirs);
    onTaken();
  };
  const saveMine = async () => {
    const mine = await state.save(theirs.tag);
    if (mine) onSaved(mine);
  };
  return (
    <Dialog title="Somebody else saved another draft meanwhile" isBusy={isBusy} onClose={state.decideLater}>
      {live && isSameBanner(theirs.draft, live.settings) ? (
        <p>
          Theirs is live already: version {count(live.version)}, published by <Actor of={live.by} /> on{' '}
          {dateAndMinute(live.publishedAt)} UTC. It stays live until somebody publishes again. Only this tab has yours:
          choose which draft to keep.
        </p>
      ) : (
        <p>Only this tab has yours. Choose which draft to keep; the other one is gone then.</p>
      )}
      <ChangeList changes={changesBetween(theirs.draft, state.draft)} before="Theirs" after="Yours" />
      <Failure>{failure}</Failure>
      <div class="actions">
        <Button text="Keep theirs" disabled={isBusy} onClick={keepTheirs} />
        <Button text="Save mine" kind="primary" disabled={isBusy} onClick={() => attempt(saveMine)} />
      </div>
    </Dialog>
  );
}
