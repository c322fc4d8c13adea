/** The actions of a webhook. */
import { useState } from 'preact/hooks';
import type { Webhook } from '#libs/webhooks/contract';
import { useAttempt } from '../data/attempt.ts';
import type { Called } from '../data/calls.ts';
import { navigate, webhooksAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { webhooksOf } from './webhook-api.ts';
import { type Delivery, type FreshSecret, failureOf, hostOf, isDelivered } from './webhook-facts.ts';

interface Props {
  webhook: Webhook;
  deliveries: Delivery[];
  onChanged(changed: Called<Webhook>): void;
  remove(): Promise<void>;
  onSecret(secret: FreshSecret): void;
  onChange(): void;
  /** absent if there is nothing to replay, or the token or the plan does not allow it */
  onReplay: (() => void) | undefined;
}

export function Actions({ webhook, deliveries, onChanged, remove, onSecret, onChange, onReplay }: Props) {
  const { api } = useSignedIn();
  const { webhookId, enabled, url } = webhook;
  const { isBusy, failure, attempt } = useAttempt();
  const [testId, setTestId] = useState<string | null>(null);
  const [asks, setAsks] = useState<'delete' | 'rotate' | null>(null);
  const close = () => setAsks(null);
  // the buttons stay enabled, since a disabled button loses the focus
  const begin = (act: () => Promise<void>) => {
    if (!isBusy) setTestId(null);
    attempt(act);
  };
  const test = async () => setTestId((await webhooksOf(api).test(webhookId)).messageId);
  const toggle = async () => onChanged(await webhooksOf(api).change(webhookId, { enabled: !enabled }));
  const rotate = async () => {
    const { secret, previousUntil } = await webhooksOf(api).rotate(webhookId);
    onSecret({ webhookId, secret, previousUntil });
  };
  const end = async () => {
    await remove();
    navigate(webhooksAddress, { replace: true });
  };
  return (
    <>
      <div class="actions tight webhook-actions">
        <Button text="Send test" kind="primary" onClick={() => begin(test)} />
        <Button text="Change…" class="webhook-change" onClick={onChange} />
        <Button text={enabled ? 'Pause' : 'Resume'} onClick={() => begin(toggle)} />
        {onReplay && <Button text="Replay…" onClick={onReplay} />}
        <Button text="New secret…" onClick={() => setAsks('rotate')} />
        <Button text="Delete…" kind="danger" class="at-end" onClick={() => setAsks('delete')} />
      </div>
      {failure ? <Failure>{failure}</Failure> : <TestResult testId={testId} deliveries={deliveries} />}
      {asks === 'rotate' && (
        <ConfirmDialog title="Create a new secret?" action="Create a new secret" act={rotate} onClose={close}>
          <p>
            For 24 hours messages are signed with both secrets, so you have a day to update your receiver. After that
            the current secret stops working.
          </p>
        </ConfirmDialog>
      )}
      {asks === 'delete' && (
        <ConfirmDialog title="Delete this webhook?" action="Delete this webhook" isDangerous act={end} onClose={close}>
          <p>
            Nothing more is sent to {isolated(hostOf(url))}, and its list of deliveries is deleted too. This cannot be
            undone. To stop for a while, pause it instead.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function TestResult({ testId, deliveries }: { testId: string | null; deliveries: Delivery[] }) {
  const tried = deliveries.find(({ messageId }) => messageId === testId);
  return (
    <p role="status" class={tried && !isDelivered(tried) ? 'field-note' : 'gone-if-empty'}>
      {testId !== null && !tried && 'Sending the test…'}
      {tried &&
        (isDelivered(tried)
          ? `The test was delivered in ${count(tried.milliseconds)} ms.`
          : `The test failed: ${failureOf(tried)}.`)}
    </p>
  );
}
