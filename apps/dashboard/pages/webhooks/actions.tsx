/** What can be done with a webhook. */
import { useState } from 'preact/hooks';
import type { Webhook } from '#libs/contract/webhook';
import type { Api } from '../../data/api.ts';
import { textOf } from '../../data/api-error.ts';
import { navigate, webhooksAddress } from '../../data/router.ts';
import type { Called } from '../../data/webhook-api.ts';
import type { FreshSecret } from '../../data/webhooks.ts';
import { type Delivery, failureOf, hostOf, isDelivered } from '../../data/webhooks.ts';
import { count, escapeInvisible } from '../../format.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

interface Props {
  api: Api;
  webhook: Webhook;
  deliveries: Delivery[];
  onChanged(changed: Called<Webhook>): void;
  onSecret(secret: FreshSecret): void;
  onChange(): void;
  /** absent where there is nothing to replay, or the token or the plan does not allow it */
  onReplay: (() => void) | undefined;
}

type Outcome = 'none' | 'busy' | { testId: string } | { failure: string };

export function Actions({ api, webhook, deliveries, onChanged, onSecret, onChange, onReplay }: Props) {
  const { webhookId, enabled, url } = webhook;
  const [outcome, setOutcome] = useState<Outcome>('none');
  const [asks, setAsks] = useState<'delete' | 'rotate' | null>(null);
  const attempt = (action: Promise<Outcome>) => {
    setOutcome('busy');
    action.then(setOutcome, (error: unknown) => setOutcome({ failure: textOf(error) }));
  };
  const test = async (): Promise<Outcome> => ({ testId: (await api.webhooks.test(webhookId)).messageId });
  const toggle = async (): Promise<Outcome> => {
    onChanged(await api.webhooks.change(webhookId, { enabled: !enabled }));
    return 'none';
  };
  const rotate = async () => {
    const { secret, previousUntil } = await api.webhooks.rotate(webhookId);
    onSecret({ webhookId, secret, previousUntil });
  };
  const remove = async () => {
    await api.webhooks.remove(webhookId);
    navigate(webhooksAddress, { replace: true });
  };
  const isBusy = outcome === 'busy';
  return (
    <>
      <div class="actions webhook-actions">
        <button type="button" class="button primary" disabled={isBusy} onClick={() => attempt(test())}>
          Send test
        </button>
        <button type="button" class="button webhook-change" onClick={onChange}>
          Change…
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => attempt(toggle())}>
          {enabled ? 'Pause' : 'Resume'}
        </button>
        {onReplay && (
          <button type="button" class="button" onClick={onReplay}>
            Replay…
          </button>
        )}
        <button type="button" class="button" onClick={() => setAsks('rotate')}>
          New secret…
        </button>
        <button type="button" class="button danger" onClick={() => setAsks('delete')}>
          Delete…
        </button>
      </div>
      <TestResult outcome={outcome} deliveries={deliveries} />
      {asks === 'rotate' && (
        <ConfirmDialog title="Make a new secret?" action="Make a new secret" act={rotate} onClose={() => setAsks(null)}>
          <p>
            For 24 hours messages are signed with both secrets, so you have a day to update your receiver. After that
            the current secret stops working.
          </p>
        </ConfirmDialog>
      )}
      {asks === 'delete' && (
        <ConfirmDialog
          title="Delete this webhook?"
          action="Delete this webhook"
          isDangerous
          act={remove}
          onClose={() => setAsks(null)}
        >
          <p>
            Nothing more is sent to <bdi>{escapeInvisible(hostOf(url))}</bdi>, and its list of deliveries is deleted
            too. This cannot be undone. To stop for a while, pause it instead.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function TestResult({ outcome, deliveries }: { outcome: Outcome; deliveries: Delivery[] }) {
  if (typeof outcome === 'object' && 'failure' in outcome)
    return (
      <p class="field-note" role="alert">
        {outcome.failure}
      </p>
    );
  const testId = typeof outcome === 'object' ? outcome.testId : null;
  const tried = deliveries.find(({ messageId }) => messageId === testId);
  return (
    <p role="status" class={tried && !isDelivered(tried) ? 'field-note' : 'webhook-result'}>
      {testId !== null && !tried && 'Sending the test…'}
      {tried && (isDelivered(tried) ? `The test was delivered in ${count(tried.milliseconds)} ms.` : failed(tried))}
    </p>
  );
}

const failed = (tried: Delivery): string => `The test failed: ${failureOf(tried)}.`;
