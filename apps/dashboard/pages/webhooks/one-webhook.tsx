/** One webhook: what it is told of, whether it works, and every try of the last 30 days. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { webhooksAddress } from '../../data/router.ts';
import { mayReadLogs } from '../../data/scopes.ts';
import type { Replay } from '../../data/webhook-api.ts';
import { useWebhook } from '../../data/webhook-reading.ts';
import type { FreshSecret } from '../../data/webhooks.ts';
import { hostOf } from '../../data/webhooks.ts';
import { escapeInvisible } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { LiveBadge } from '../../parts/live-badge.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Actions } from './actions.tsx';
import { ChangeWebhook } from './change-webhook.tsx';
import { Deliveries } from './deliveries.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { SecretCard } from './secret-card.tsx';
import { Settings } from './settings.tsx';
import { Trouble } from './trouble.tsx';

interface Props {
  api: Api;
  organization: Organization;
  webhookId: string;
  secret: FreshSecret | null;
  onSecret(secret: FreshSecret | null): void;
}

export function OneWebhook({ api, organization, webhookId, secret, onSecret }: Props) {
  const reading = useWebhook(api, webhookId);
  const [isChanging, setChanging] = useState(false);
  const [replay, setReplay] = useState<Partial<Replay> | null>(null);
  const secretCard = secret?.webhookId === webhookId && <SecretCard fresh={secret} onDone={() => onSecret(null)} />;
  const settings = useRef<HTMLElement>(null);
  const wasChanging = useRef(false);
  // what had the focus is gone: to the form's first field, and back to the button that opened it
  useEffect(() => {
    if (wasChanging.current !== isChanging)
      settings.current?.querySelector<HTMLElement>(isChanging ? 'input' : '.webhook-change')?.focus();
    wasChanging.current = isChanging;
  }, [isChanging]);
  const snapshot = reading.value;
  if (!snapshot)
    return (
      <>
        {secretCard}
        {reading.error ? (
          <>
            <PageHead title="Webhook" note={webhookId} way={wayTo('Webhook')} />
            <ErrorCard error={reading.error} retry={reading.retry} />
          </>
        ) : (
          <Skeleton kind="table" isSlow={reading.isSlow} />
        )}
      </>
    );
  const { webhook, tries } = snapshot;
  const host = hostOf(webhook.url);
  const canReplay = mayReadLogs(organization) && webhook.types.includes('records.sealed');
  return (
    <>
      <PageHead title={host} before="Webhook to " note={<bdi>{escapeInvisible(webhook.url)}</bdi>} way={wayTo(host)}>
        {reading.live && <LiveBadge state={reading.live} />}
      </PageHead>
      {secretCard}
      <Trouble webhook={webhook} deliveries={tries.deliveries} />
      <section class="card webhook-settings" aria-label="Settings" ref={settings}>
        {isChanging ? (
          <ChangeWebhook
            api={api}
            organization={organization}
            snapshot={snapshot}
            onChanged={reading.putWebhook}
            onClose={() => setChanging(false)}
          />
        ) : (
          <>
            <Settings webhook={webhook} organization={organization} />
            <Actions
              api={api}
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
      <Deliveries
        tries={tries}
        older={reading.older}
        organization={organization}
        onReplay={canReplay ? setReplay : undefined}
      />
      {replay && (
        <ReplayDialog
          api={api}
          organization={organization}
          webhook={webhook}
          given={replay}
          onClose={() => setReplay(null)}
        />
      )}
    </>
  );
}

const wayTo = (name: string) => [
  { name: 'Webhooks', address: webhooksAddress },
  { name, address: null },
];
