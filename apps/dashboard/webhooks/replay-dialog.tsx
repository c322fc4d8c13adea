/** Sends a domain's entries again, starting at a position. */
import { useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { Webhook, WebhookReplay } from '#libs/webhooks/contract';
import { sentence } from '../data/api-error.ts';
import { useAttempt } from '../data/attempt.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DoneDialog } from '../parts/confirm-dialog.tsx';
import { Dialog } from '../parts/dialog.tsx';
import type { Errors } from '../parts/draft-form.tsx';
import { Failure, Field, FieldNote } from '../parts/field.tsx';
import { nameOfDomain } from './coverage.ts';
import { type Replay, webhooksOf } from './webhook-api.ts';

interface Props {
  webhook: Webhook;
  /** empty, or taken from a delivery */
  given: Partial<Replay>;
  onClose(): void;
}

export function ReplayDialog({ webhook, given, onClose }: Props) {
  const { api, organization } = useSignedIn();
  const covered = webhook.domains ?? organization.domains.map(({ domainId }) => domainId);
  // the webhook may no longer cover the delivery's domain
  const domainIds = [...new Set([...(given.domainId === undefined ? [] : [given.domainId]), ...covered])];
  const [domainId, setDomain] = useState(given.domainId ?? domainIds[0] ?? '');
  const [from, setFrom] = useState(String(given.from ?? 0));
  const [errors, setErrors] = useState<Errors>({});
  const [done, setDone] = useState<WebhookReplay | null>(null);
  const { isBusy, failure, attempt } = useAttempt();
  const replay = async () => {
    if (!/^\d{1,15}$/.test(from)) return setErrors({ from: 'Must be a whole number, 0 or more.' });
    setErrors({});
    // the delivery's log only applies to its own domain
    const log = domainId === given.domainId ? given.log : undefined;
    const body = { domainId, from: Number(from), ...(log !== undefined && { log }) };
    try {
      setDone(await webhooksOf(api).replay(webhook.webhookId, body));
    } catch (error) {
      if (!(error instanceof AssentError) || error.errors.length === 0) throw error;
      setErrors(Object.fromEntries(error.errors.map(({ path, message }) => [path.slice(1), sentence(message)])));
    }
  };
  if (done) return <ReplayDone replayed={done} webhook={webhook} onClose={onClose} />;
  return (
    <Dialog title="Replay entries" isBusy={isBusy} onClose={onClose}>
      <p>
        Sends everything from this entry up to the newest again, as new messages. Your receiver can tell by domain, log
        and position what it already has.
      </p>
      <form
        class="form full"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          attempt(replay);
        }}
      >
        <div class="field">
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
        <Field
          label="From entry"
          inputMode="numeric"
          noteId="replay-from-note"
          note="The first entry of a log is 0"
          error={errors.from}
          value={from}
          onText={setFrom}
        />
        <Failure>{failure}</Failure>
        <div class="actions">
          <Button text="Cancel" disabled={isBusy} onClick={onClose} />
          <Button text="Replay" type="submit" kind="primary" disabled={isBusy} />
        </div>
      </form>
    </Dialog>
  );
}

interface DoneProps {
  replayed: WebhookReplay;
  webhook: Webhook;
  onClose(): void;
}

/** Describes what a replay sends. */
function ReplayDone({ replayed: { domainId, from, size }, webhook, onClose }: DoneProps) {
  const { organization } = useSignedIn();
  const entries = size - from;
  const counted = entries === 0 ? 'No entry' : entries === 1 ? '1 entry' : `${count(entries)} entries`;
  const name = <bdi>{nameOfDomain(organization, domainId)}</bdi>;
  return (
    <DoneDialog title="Replay entries" onClose={onClose}>
      <p role="status">
        {webhook.decisions === null || entries === 0 ? (
          <>
            {counted} of {name} will be sent again
          </>
        ) : (
          <>
            Of {counted} of {name}, those with the chosen decisions will be sent again
          </>
        )}
        {webhook.enabled ? '.' : ', once the webhook is resumed.'}
      </p>
    </DoneDialog>
  );
}
