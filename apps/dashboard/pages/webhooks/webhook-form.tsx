/** What a webhook is made of. What is wrong stands next to the field that it is about. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import { ApiError, textOf } from '../../data/api-error.ts';
import { decisionNames, decisions } from '../../data/decisions.ts';
import { mayReadLogs } from '../../data/scopes.ts';
import { type Draft, type DraftErrors, errorsByField, hasEntries, missingIn } from '../../data/webhook-draft.ts';
import { messageMeanings, messageNames, webhookTypes } from '../../data/webhooks.ts';
import { FieldNote } from '../../parts/field-note.tsx';
import { CheckGroup } from './check-group.tsx';
import { DomainPicker } from './domain-picker.tsx';

interface Props {
  organization: Organization;
  given: Draft;
  /** of the button */
  action: string;
  save(draft: Draft): Promise<void>;
  onCancel(): void;
}

export function WebhookForm({ organization, given, action, save, onCancel }: Props) {
  const [draft, setDraft] = useState(given);
  const [errors, setErrors] = useState<DraftErrors>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const set = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed });
  // to the first field that something is wrong with
  useEffect(() => {
    if (Object.keys(errors).length > 0) form.current?.querySelector<HTMLElement>('[data-wrong] input')?.focus();
  }, [errors]);

  const submit = async () => {
    const missing = missingIn(draft);
    setErrors(missing);
    setFailure(null);
    if (Object.keys(missing).length > 0) return;
    setBusy(true);
    try {
      await save(draft);
    } catch (error) {
      const found = errorsByField(error instanceof ApiError ? error.errors : []);
      setErrors(found);
      if (Object.keys(found).length === 0) setFailure(textOf(error));
      setBusy(false);
    }
  };
  const mayHaveEntries = mayReadLogs(organization);
  return (
    <form
      class="webhook-form"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      <div class="webhook-field" data-wrong={errors.url && ''}>
        <label>
          URL
          <input
            type="url"
            inputMode="url"
            autocomplete="off"
            spellcheck={false}
            maxLength={2048}
            placeholder="https://receiver.example.com/webhooks/consent"
            aria-invalid={errors.url !== undefined}
            aria-describedby="webhook-url-note"
            value={draft.url}
            onInput={(event) => set({ url: event.currentTarget.value })}
          />
        </label>
        <FieldNote id="webhook-url-note" error={errors.url}>
          A public https address, port 443 or 1024 and above
        </FieldNote>
      </div>
      <CheckGroup
        label="Events"
        name="types"
        options={webhookTypes.map((type) => ({
          value: type,
          label: messageNames[type],
          note: messageMeanings[type],
          isDisabled: type === 'records.sealed' && !mayHaveEntries && !given.types.includes(type),
        }))}
        chosen={draft.types}
        onChoose={(types) => set({ types })}
        error={errors.types}
        note={!mayHaveEntries && `New entries need ${whatIsMissing(organization)}.`}
      />
      <DomainPicker organization={organization} draft={draft} onChange={set} error={errors.domains} />
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
      {failure !== null && (
        <p class="field-note" role="alert">
          {failure}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="button primary">
          {action}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

const whatIsMissing = ({ plan }: Organization): string =>
  plan.consentLog ? 'a token with the scope “read” too' : 'a plan that includes the log';
