/** Sends entries of a domain again, from a position on. */
import { useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import type { Webhook, WebhookReplay } from '#libs/contract/webhook';
import type { Api } from '../../data/api.ts';
import { ApiError, sentence, textOf } from '../../data/api-error.ts';
import type { Replay } from '../../data/webhook-api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FieldNote } from '../../parts/field-note.tsx';
import { nameOfDomain } from './coverage.ts';
import { ReplayDone } from './replay-done.tsx';

interface Props {
  api: Api;
  organization: Organization;
  webhook: Webhook;
  /** empty, or of a delivery */
  given: Partial<Replay>;
  onClose(): void;
}

type State = 'asks' | 'busy' | { errors: Record<string, string> } | { failure: string } | { done: WebhookReplay };

export function ReplayDialog({ api, organization, webhook, given, onClose }: Props) {
  const told = webhook.domains ?? organization.domains.map(({ domainId }) => domainId);
  // it may not be told of the delivery's any more
  const domainIds = [...new Set([...(given.domainId === undefined ? [] : [given.domainId]), ...told])];
  const [domainId, setDomain] = useState(given.domainId ?? domainIds[0] ?? '');
  const [from, setFrom] = useState(String(given.from ?? 0));
  const [state, setState] = useState<State>('asks');
  const isBusy = state === 'busy';
  const replay = () => {
    if (!/^\d{1,15}$/.test(from)) return setState({ errors: { from: 'Must be a whole number, 0 or more.' } });
    setState('busy');
    // a delivery's log is that of its domain
    const log = domainId === given.domainId ? given.log : undefined;
    api.webhooks.replay(webhook.webhookId, { domainId, from: Number(from), ...(log !== undefined && { log }) }).then(
      (done) => setState({ done }),
      (error: unknown) => setState(stateAfter(error)),
    );
  };
  const errors = typeof state === 'object' && 'errors' in state ? state.errors : {};
  if (typeof state === 'object' && 'done' in state)
    return <ReplayDone replayed={state.done} organization={organization} webhook={webhook} onClose={onClose} />;
  return (
    <Dialog title="Replay entries" isBusy={isBusy} onClose={onClose}>
      <p>
        Sends everything from this entry up to the newest again, as new messages. Your receiver can tell by domain, log
        and position what it already has.
      </p>
      <form
        class="webhook-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) replay();
        }}
      >
        <div class="webhook-field">
          <label>
            Domain
            <select
              aria-invalid={errors.domainId !== undefined}
              aria-describedby="replay-domain-note"
              value={domainId}
              onChange={(event) => setDomain(event.currentTarget.value)}
            >
              {domainIds.map((each) => (
                <option key={each} value={each}>
                  {nameOfDomain(organization, each)}
                </option>
              ))}
            </select>
          </label>
          <FieldNote id="replay-domain-note" error={errors.domainId} />
        </div>
        <div class="webhook-field">
          <label>
            From entry
            <input
              inputMode="numeric"
              autocomplete="off"
              aria-invalid={errors.from !== undefined}
              aria-describedby="replay-from-note"
              value={from}
              onInput={(event) => setFrom(event.currentTarget.value)}
            />
          </label>
          <FieldNote id="replay-from-note" error={errors.from}>
            The first entry of a log is 0
          </FieldNote>
        </div>
        {typeof state === 'object' && 'failure' in state && (
          <p class="field-note" role="alert">
            {state.failure}
          </p>
        )}
        <div class="actions">
          <button type="button" class="button" disabled={isBusy} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            Replay
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function stateAfter(error: unknown): State {
  const errors = error instanceof ApiError ? error.errors : [];
  if (errors.length === 0) return { failure: textOf(error) };
  return { errors: Object.fromEntries(errors.map(({ path, message }) => [path.slice(1), sentence(message)])) };
}
