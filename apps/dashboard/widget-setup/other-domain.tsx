/** Copies the settings of another domain's banner into the unsaved draft. */
import { useState } from 'preact/hooks';
import { useAttempt } from '../data/attempt.ts';
import { activeFirst } from '../data/domains.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { escapeInvisible } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Select } from '../parts/field.tsx';
import { bannerOf } from './banner-api.ts';
import type { WidgetDraft } from './draft/draft.ts';
import { Options } from './options.tsx';

interface Props {
  domainId: string;
  onTake(settings: WidgetDraft): void;
  onClose(): void;
}

export function OtherDomain({ domainId, onTake, onClose }: Props) {
  const { api, organization } = useSignedIn();
  const others = activeFirst(organization.domains).filter((each) => each.domainId !== domainId);
  const [from, setFrom] = useState(others[0]?.domainId ?? '');
  const [which, setWhich] = useState<'live' | 'draft'>('live');
  const [none, setNone] = useState('');
  const { isBusy, failure, attempt } = useAttempt();
  const take = async () => {
    setNone('');
    const banner = bannerOf(api, from);
    const settings = which === 'draft' ? (await banner.draft()).draft : (await banner.live())?.settings;
    if (!settings) return setNone('This domain has published nothing yet.');
    onTake(settings);
    onClose();
  };
  return (
    <Dialog title="Start from another domain’s banner" isBusy={isBusy} onClose={onClose}>
      <form
        class="form full"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(take);
        }}
      >
        <p>Its settings replace the draft of this domain once you save. Each domain keeps its own key.</p>
        <Select
          label="Domain"
          options={others.map(({ domainId: value, name }) => ({ value, name: escapeInvisible(name) }))}
          chosen={from}
          onChoose={setFrom}
        />
        <Options
          label="Use"
          options={{ live: 'Its live banner', draft: 'Its draft' }}
          chosen={which}
          onChoose={setWhich}
        />
        <Failure>{failure || none}</Failure>
        <div class="actions">
          <Button text="Cancel" disabled={isBusy} onClick={onClose} />
          <Button text="Use these settings" type="submit" kind="primary" disabled={isBusy} />
        </div>
      </form>
    </Dialog>
  );
}
