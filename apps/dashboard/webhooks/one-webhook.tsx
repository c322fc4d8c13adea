/** One webhook: its settings, its state, and the delivery attempts of the last 30 days. */
import { useRef, useState } from 'preact/hooks';
import { webhooksAddress } from '../data/router.ts';
import { mayReadLogs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { FocusedTitle, useFocusAfter } from '../parts/focus.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Snippet } from '../parts/snippet.tsx';
import { Actions } from './actions.tsx';
import { Deliveries } from './deliveries.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import type { Replay } from './webhook-api.ts';
import { type FreshSecret, hostOf } from './webhook-facts.ts';
import { ChangeWebhook } from './webhook-form.tsx';
import { useWebhook } from './webhook-reading.ts';
import { Settings, StateTag, Trouble } from './webhook-settings.tsx';

interface Props {
  webhookId: string;
  secret: FreshSecret | null;
  onSecret(secret: FreshSecret | null): void;
}

export function OneWebhook({ webhookId, secret, onSecret }: Props) {
  const { api, organization } = useSignedIn();
  const reading = useWebhook(api, webhookId);
  const [isChanging, setChanging] = useState(false);
  const [replay, setReplay] = useState<Partial<Replay> | null>(null);
  const secretCard = secret?.webhookId === webhookId && <SecretCard fresh={secret} onDone={() => onSecret(null)} />;
  const settings = useRef<HTMLElement>(null);
  // focus the form's first field, and later the button that opened it
  useFocusAfter(isChanging, (is) => settings.current?.querySelector<HTMLElement>(is ? 'input' : '.webhook-change'));
  const snapshot = reading.value;
  if (!snapshot)
    return (
      <>
        {secretCard}
        {reading.error && <PageHead title="Webhook" note={webhookId} under={under} />}
        <LoadingOrError reading={reading} kind="table" />
      </>
    );
  const { webhook, tries } = snapshot;
  const host = hostOf(webhook.url);
  const canReplay = mayReadLogs(organization) && webhook.types.includes('records.sealed');
  return (
    <>
      <PageHead
        title={host}
        before="Webhook to "
        note={isolated(webhook.url)}
        under={under}
        live={reading.live ?? undefined}
      >
        <StateTag webhook={webhook} />
      </PageHead>
      {secretCard}
      <Trouble webhook={webhook} deliveries={tries.deliveries} />
      <section class="card stack gap-16" aria-label="Settings" ref={settings}>
        {isChanging ? (
          <ChangeWebhook snapshot={snapshot} onChanged={reading.putWebhook} onClose={() => setChanging(false)} />
        ) : (
          <>
            <Settings webhook={webhook} />
            <Actions
              webhook={webhook}
              deliveries={tries.deliveries}
              onChanged={reading.putWebhook}
              remove={reading.remove}
              onSecret={onSecret}
              onChange={() => setChanging(true)}
              onReplay={canReplay ? () => setReplay({}) : undefined}
            />
          </>
        )}
      </section>
      <Deliveries tries={tries} older={reading.older} onReplay={canReplay ? setReplay : undefined} />
      {replay && <ReplayDialog webhook={webhook} given={replay} onClose={() => setReplay(null)} />}
    </>
  );
}

const under = { name: 'Webhooks', address: webhooksAddress };

/** A new secret. It is shown only once. */
const SecretCard = ({ fresh: { secret, previousUntil }, onDone }: { fresh: FreshSecret; onDone(): void }) => (
  <section class="card message once" aria-labelledby="secret-title">
    <FocusedTitle id="secret-title" of={secret}>
      Copy the secret now: it is not shown again
    </FocusedTitle>
    <p>
      Your receiver uses it to check that messages come from this service.
      {previousUntil !== null &&
        ` Until ${dateAndTime(previousUntil)} UTC, messages are also signed with the previous secret.`}
    </p>
    <Snippet name="Secret" code={secret} />
    <Button text="Done" onClick={onDone} />
  </section>
);
