/** Publishes the draft or an earlier version: shows the changes, and what the site's pages need. */
import { useEffect, useState } from 'preact/hooks';
import type { BannerVersion } from '#libs/banner/contract';
import { asksAgain } from '#libs/widget/asks-again';
import { useAttempt } from '../data/attempt.ts';
import { widgetTag } from '../data/widget-tag.ts';
import { count } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DoneDialog } from '../parts/confirm-dialog.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/field.tsx';
import { useFocusAfter } from '../parts/focus.tsx';
import { Snippet } from '../parts/snippet.tsx';
import type { Published } from './banner-api.ts';
import { ChangeList } from './change-list.tsx';
import { addedBytes } from './draft/added-bytes.ts';
import { changesBetween } from './draft/changes.ts';
import type { WidgetDraft } from './draft/draft.ts';
import { isTestChanged } from './draft/test-changes.ts';
import { warningsOf } from './draft/warnings.ts';

interface Props {
  domainId: string;
  title: string;
  /** the button's label */
  action: string;
  live: Published | null;
  settings: WidgetDraft;
  /** null: something has to be decided first */
  publish(note: string | null): Promise<BannerVersion | null>;
  onPublished(version: BannerVersion): void;
  onClose(): void;
}

export function PublishDialog({ domainId, title, action, live, settings, publish, onPublished, onClose }: Props) {
  const [note, setNote] = useState('');
  const [done, setDone] = useState<BannerVersion | null>(null);
  const [bytes, setBytes] = useState(0);
  const { isBusy, failure, attempt } = useAttempt();
  useEffect(() => void addedBytes(domainId, settings).then(setBytes), []);
  const close = () => {
    if (done) onPublished(done);
    onClose();
  };
  // the clicked button has disappeared
  useFocusAfter(done !== null, () => document.querySelector<HTMLElement>('dialog[open] button'));
  // the same dialog element, which knows where the focus was
  if (done)
    return (
      <Dialog title={`Version ${count(done.version)} is live`} isBusy={false} onClose={close}>
        {done.version > 1 && <p>{browsersTell}</p>}
        <p>The tag stays the same. It belongs in the head of every page of the site:</p>
        <Snippet name="Script tag" code={widgetTag(domainId)} />
        <div class="actions">
          <Button text="Close" kind="primary" onClick={close} />
        </div>
      </Dialog>
    );
  const changes = changesBetween(live?.settings ?? {}, settings);
  if (live && changes.length === 0)
    return (
      <DoneDialog title="Nothing has changed" onClose={onClose}>
        <p>Version {count(live.version)}, which is live, says exactly this.</p>
      </DoneDialog>
    );
  return (
    <Dialog title={title} isBusy={isBusy} onClose={onClose}>
      {live ? (
        <ChangeList changes={changes} before="Live" after="New" />
      ) : (
        <p>
          This is the first version. From now on the tag shows this banner
          {changes.length === 0 && ', as the widget comes'}, with a key of its own that everybody can read.
        </p>
      )}
      {live && asksAgain(settings, live.settings) && (
        <p class="notice">
          Every visitor will be asked again: the version of the policy, or what is optional, differs from the live one.
        </p>
      )}
      {live && isTestChanged(live.settings, settings) && (
        <p class="notice">
          A test is running: results before and after this change are added up. Give the test a new name to start
          afresh.
        </p>
      )}
      {warningsOf(settings).map((warning) => (
        <p key={warning} class="notice notice-bad">
          {warning}
        </p>
      ))}
      {bytes !== 0 && (
        <p class="hint">
          These settings add about {count(bytes)} bytes to the script of each page (compressed)
          {(settings.regions || settings.experiment) && ', and regions and A/B tests up to 4,000 more, together'}.
        </p>
      )}
      <form
        class="form full"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(async () => setDone(await publish(note.trim() || null)));
        }}
      >
        <label>
          Note for colleagues (optional)
          <textarea
            rows={2}
            maxLength={500}
            value={note}
            onInput={({ currentTarget }) => setNote(currentTarget.value)}
          />
        </label>
        <Failure>{failure}</Failure>
        <div class="actions">
          <Button text="Cancel" disabled={isBusy} onClick={onClose} />
          <Button text={action} type="submit" kind="primary" disabled={isBusy} />
        </div>
      </form>
    </Dialog>
  );
}

export const browsersTell =
  'Browsers may show the former version for five minutes, and on the first page of a visit for up to a day.';
