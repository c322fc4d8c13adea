/** The form of a webhook, for a new one and for changes. */

import { useState } from 'preact/hooks';
import type { Organization } from '#libs/stats/contract';
import type { Webhook } from '#libs/webhooks/contract';
import type { Called } from '../data/calls.ts';
import { decisionNames, decisions } from '../data/decisions.ts';
import { navigate, webhooksAddress } from '../data/router.ts';
import { mayReadLogs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { DraftForm } from '../parts/draft-form.tsx';
import { Field } from '../parts/field.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { CheckGroup } from './check-group.tsx';
import { DomainPicker } from './domain-picker.tsx';
import { HeaderFields } from './header-fields.tsx';
import { webhooksOf } from './webhook-api.ts';
import { bodyOf, type Draft, draftOf, errorsByField, hasEntries, missingIn, newDraft } from './webhook-draft.ts';
import { type FreshSecret, messageMeanings, messageNames, webhookTypes } from './webhook-facts.ts';
import type { WebhookSnapshot } from './webhook-reading.ts';

interface Props {
  given: Draft;
  /** names of the stored headers */
  headerNames?: string[];
  /** the button's label */
  action: string;
  save(draft: Draft): Promise<void>;
  onCancel(): void;
}

function WebhookForm(props: Props) {
  const { organization } = useSignedIn();
  const mayHaveEntries = mayReadLogs(organization);
  return (
    <DraftForm {...props} wrongIn={missingIn} errorsOf={errorsByField}>
      {({ draft, errors, set }) => (
        <>
          <Field
            label="URL"
            type="url"
            inputMode="url"
            spellcheck={false}
            maxLength={2048}
            placeholder="https://receiver.example.com/webhooks/consent"
            noteId="webhook-url-note"
            note="A public https address, port 443 or 1024 and above"
            error={errors.url}
            value={draft.url}
            onText={(url) => set({ url })}
          />
          <CheckGroup
            label="Events"
            name="types"
            options={webhookTypes.map((type) => ({
              value: type,
              label: messageNames[type],
              note: messageMeanings[type],
              isDisabled: type === 'records.sealed' && !mayHaveEntries && !props.given.types.includes(type),
            }))}
            chosen={draft.types}
            onChoose={(types) => set({ types })}
            error={errors.types}
            note={!mayHaveEntries && `New entries need ${whatIsMissing(organization)}.`}
          />
          <DomainPicker draft={draft} onChange={set} error={errors.domains} />
          {hasEntries(draft) && (
            <CheckGroup
              label="Decisions"
              name="decisions"
              isInline
              options={decisions.map((value) => ({ value, label: decisionNames[value] }))}
              chosen={draft.decisions}
              onChoose={(chosen) => set({ decisions: chosen })}
              error={errors.decisions}
              note="Only entries with these decisions are sent."
            />
          )}
          <HeaderFields draft={draft} names={props.headerNames ?? []} onChange={set} error={errors.headers} />
          <Field
            label="Largest message, in bytes"
            inputMode="numeric"
            maxLength={7}
            noteId="webhook-bytes-note"
            note="16,384 to 1,048,576. Longer ones are split, for receivers that take no more"
            error={errors.maxBytes}
            value={draft.maxBytes}
            onText={(maxBytes) => set({ maxBytes })}
          />
        </>
      )}
    </DraftForm>
  );
}

const whatIsMissing = ({ plan }: Organization): string =>
  plan.consentLog ? 'a token with the scope “read” too' : 'a plan that includes the log';

export function NewWebhook({ onMade }: { onMade(secret: FreshSecret): void }) {
  const { api, organization } = useSignedIn();
  const make = async (draft: Draft) => {
    const { webhookId, secret } = await webhooksOf(api).create(bodyOf(draft));
    onMade({ webhookId, secret, previousUntil: null });
  };
  const types = mayReadLogs(organization) ? (['records.sealed'] as const) : [];
  return (
    <>
      <PageHead
        title="New webhook"
        note="A webhook receives what happens from now on. You can replay earlier entries."
        under={{ name: 'Webhooks', address: webhooksAddress }}
      />
      <section class="card" aria-label="New webhook">
        <WebhookForm
          given={newDraft([...types])}
          action="Create webhook"
          save={make}
          onCancel={() => navigate(webhooksAddress)}
        />
      </section>
    </>
  );
}

interface ChangeProps {
  snapshot: WebhookSnapshot;
  onChanged(changed: Called<Webhook>): void;
  onClose(): void;
}

/** Changes a webhook, unless somebody else has changed it since the form was opened. */
export function ChangeWebhook({ snapshot, onChanged, onClose }: ChangeProps) {
  const { api } = useSignedIn();
  // the page continues to update below the form
  const [{ webhook, tag }] = useState(snapshot);
  const save = async (draft: Draft) => {
    onChanged(await webhooksOf(api).change(webhook.webhookId, bodyOf(draft), tag));
    onClose();
  };
  return (
    <WebhookForm
      given={draftOf(webhook)}
      headerNames={webhook.headers}
      action="Save changes"
      save={save}
      onCancel={onClose}
    />
  );
}
