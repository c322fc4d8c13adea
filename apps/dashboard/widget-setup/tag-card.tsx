/** What comes out: the tag, with a key, and a link that opens these settings again. */
import { useState } from 'preact/hooks';
import { copyText } from '../clipboard.ts';
import { Button } from '../parts/button.tsx';
import { Snippet } from '../parts/snippet.tsx';
import { AllowedOrigins } from './allowed-origins.tsx';
import { contrastWarning } from './draft/contrast.ts';
import type { WidgetDraft } from './draft/draft.ts';
import { tagOf } from './draft/tag.ts';
import { isKey } from './draft/tag-reader.ts';
import { KeyField } from './key-field.tsx';

interface Props {
  domainId: string;
  draft: WidgetDraft;
  /** null where the settings are too long for a link */
  fragment: string | null;
  apiKey: string;
  setApiKey(apiKey: string): void;
}

export function TagCard({ domainId, draft, fragment, apiKey, setApiKey }: Props) {
  const [copied, setCopied] = useState('');
  const warning = contrastWarning(draft);
  const link = location.origin + location.pathname + (fragment ?? '');
  return (
    <section class="card message widget-tag" aria-labelledby="tag-title">
      <h2 id="tag-title">The tag</h2>
      <p>Put it into the head of every page of the site. Nothing else is needed: the settings are in it.</p>
      <KeyField domainId={domainId} apiKey={apiKey} setApiKey={setApiKey} />
      {warning && <p class="notice notice-bad">{warning.sentence}</p>}
      {missing(draft).map((sentence) => (
        <p key={sentence} class="notice">
          {sentence}
        </p>
      ))}
      <Snippet
        name="Script tag"
        code={tagOf(draft, domainId, isKey(apiKey) ? apiKey : 'ak_…')}
        warning={isKey(apiKey) ? '' : 'It has no key yet: nothing will be recorded.'}
      />
      <div class="actions">
        <Button
          text="Copy link to these settings"
          disabled={fragment === null}
          onClick={() =>
            void copyText(link).then((isCopied) => setCopied(isCopied ? 'Copied.' : 'The browser did not allow it.'))
          }
        />
        <span role="status">{copied}</span>
      </div>
      <p class="hint">
        {fragment === null
          ? 'These settings are too long for a link. Keep the tag: it opens them again.'
          : 'The address of this page holds the settings too, without the key.'}
      </p>
      <AllowedOrigins domainId={domainId} />
    </section>
  );
}

/** What authorities want to see before the buttons. */
const missing = ({ company, policyUrl }: WidgetDraft): string[] => [
  ...(company ? [] : ['The banner does not say who asks: name your company.']),
  ...(policyUrl ? [] : ['The banner has no link to a privacy policy.']),
];
