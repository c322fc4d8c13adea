/** What comes out: the tag, with a key, and a link that opens these settings again. */
import { useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/responses';
import { copyText } from '../../clipboard.ts';
import type { Api } from '../../data/api.ts';
import { textOf } from '../../data/api-error.ts';
import { keepKey } from '../../data/kept-keys.ts';
import { mayManage } from '../../data/scopes.ts';
import { assentCommand } from '../../parts/assent-command.ts';
import { FieldNote } from '../../parts/field-note.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { AllowedOrigins } from './allowed-origins.tsx';
import { contrastWarning } from './draft/contrast.ts';
import type { WidgetDraft } from './draft/draft.ts';
import { tagOf } from './draft/tag.ts';
import { isKey } from './draft/tag-reader.ts';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
  draft: WidgetDraft;
  /** null where the settings are too long for a link */
  fragment: string | null;
  apiKey: string;
  setApiKey(apiKey: string): void;
}

export function TagCard({ api, organization, domainId, draft, fragment, apiKey, setApiKey }: Props) {
  const [copied, setCopied] = useState('');
  const warning = contrastWarning(draft);
  const isManager = mayManage(organization);
  const link = location.origin + location.pathname + (fragment ?? '');
  const keep = (key: string) => {
    setApiKey(key);
    keepKey(domainId, key);
  };
  return (
    <section class="card message widget-tag" aria-labelledby="tag-title">
      <h2 id="tag-title">The tag</h2>
      <p>Put it into the head of every page of the site. Nothing else is needed: the settings are in it.</p>
      <div class="widget-key">
        <label>
          Key
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            placeholder="ak_…"
            aria-invalid={apiKey !== '' && !isKey(apiKey)}
            aria-describedby="widget-key-note"
            value={apiKey}
            onInput={({ currentTarget }) => keep(currentTarget.value.trim())}
          />
        </label>
        {isManager && <NewKey api={api} domainId={domainId} isFirst={apiKey === ''} onMade={keep} />}
      </div>
      <FieldNote
        id="widget-key-note"
        error={apiKey !== '' && !isKey(apiKey) ? 'A key is ak_ and 32 letters, digits, - or _.' : undefined}
      >
        {apiKey !== '' ? (
          'The key is in the tag below and is not shown again once you leave: copy the tag now. Everybody can read it in your pages; it only records.'
        ) : isManager ? (
          'Make a new key, or paste one that you have. Without a key nothing is recorded.'
        ) : (
          <>
            Paste the key that was shown when it was made. Whoever manages this domain makes another one in its
            settings, or on the command line: <code>{assentCommand(`key create ${domainId}`)}</code>
          </>
        )}
      </FieldNote>
      {warning && <p class="notice notice-bad">{warning.sentence}</p>}
      <Snippet name="Script tag" code={tagOf(draft, domainId, isKey(apiKey) ? apiKey : 'ak_…')} />
      <div class="actions">
        <button
          type="button"
          class="button"
          disabled={fragment === null}
          onClick={() =>
            void copyText(link).then((isCopied) => setCopied(isCopied ? 'Copied.' : 'The browser did not allow it.'))
          }
        >
          Copy link to these settings
        </button>
        <span role="status">{copied}</span>
      </div>
      <p class="hint">
        {fragment === null
          ? 'These settings are too long for a link. Keep the tag: it opens them again.'
          : 'The address of this page holds the settings too, without the key.'}
      </p>
      <AllowedOrigins api={api} organization={organization} domainId={domainId} />
    </section>
  );
}

interface NewKeyProps {
  api: Api;
  domainId: string;
  /** otherwise the tag has one already */
  isFirst: boolean;
  onMade(apiKey: string): void;
}

function NewKey({ api, domainId, isFirst, onMade }: NewKeyProps) {
  const [state, setState] = useState<'idle' | 'busy' | { failure: string }>('idle');
  const make = () => {
    if (state === 'busy') return;
    setState('busy');
    api.manage.createKey(domainId).then(
      ({ apiKey }) => {
        setState('idle');
        onMade(apiKey);
      },
      (error: unknown) => setState({ failure: textOf(error) }),
    );
  };
  return (
    <>
      <button type="button" class={isFirst ? 'button primary' : 'button'} onClick={make}>
        New key
      </button>
      {typeof state === 'object' && (
        <p class="field-note" role="alert">
          {state.failure}
        </p>
      )}
    </>
  );
}
