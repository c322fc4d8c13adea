/** What can be done with a webhook. */
import { useState } from 'preact/hooks';
import type { Webhook } from '#libs/contract/webhook';
import type { Api } from '../../data/api.ts';
import { textOf } from '../../data/api-error.ts';
import type { Called } from '../../data/webhook-api.ts';
import type { Delivery, FreshSecret } from '../../data/webhooks.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { TestResult } from './test-result.tsx';

interface Props {
  api: Api;
  webhook: Webhook;
  deliveries: Delivery[];
  onChanged(changed: Called<Webhook>): void;
  remove(): Promise<void>;
  onSecret(secret: FreshSecret): void;
  onChange(): void;
  /** absent where there is nothing to replay, or the token or the plan does not allow it */
  onReplay: (() => void) | undefined;
}

export type Outcome = 'none' | 'busy' | { testId: string } | { failure: string };

export function Actions({ api, webhook, deliveries, onChanged, remove, onSecret, onChange, onReplay }: Props) {
  const { webhookId, enabled } = webhook;
  const [outcome, setOutcome] = useState<Outcome>('none');
  const [asks, setAsks] = useState<'delete' | 'rotate' | null>(null);
  // the buttons stay enabled, since one that is disabled loses the focus
  const attempt = (action: () => Promise<Outcome>) => {
    if (outcome === 'busy') return;
    setOutcome('busy');
    action().then(setOutcome, (error: unknown) => setOutcome({ failure: textOf(error) }));
  };
  const test = async (): Promise<Outcome> => ({ testId: (await api.webhooks.test(webhookId)).messageId });
  const toggle = async (): Promise<Outcome> => {
    onChanged(await api.webhooks.change(webhookId, { enabled: !enabled }));
    return 'none';
  };
  return (
    <>
      <div class="actions webhook-actions">
        <button type="button" class="button primary" onClick={() => attempt(test)}>
          Send test
        </button>
        <button type="button" class="button webhook-change" onClick={onChange}>
          Change…
        </button>
        <button type="button" class="button" onClick={() => attempt(toggle)}>
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
        <RotateDialog api={api} webhookId={webhookId} onSecret={onSecret} onClose={() => setAsks(null)} />
      )}
      {asks === 'delete' && <DeleteDialog webhook={webhook} remove={remove} onClose={() => setAsks(null)} />}
    </>
  );
}
