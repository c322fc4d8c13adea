/** The pages of webhooks: the list, one, or a new one. */
import './webhooks.css';
import { useEffect, useState } from 'preact/hooks';
import type { Webhook } from '#libs/webhooks/contract';
import { useReading } from '../data/query.ts';
import { navigate, webhookAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dateAndTime } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { ThingsPage } from '../parts/things-page.tsx';
import { domainsText, typesText } from './coverage.ts';
import { OneWebhook } from './one-webhook.tsx';
import { webhooksOf } from './webhook-api.ts';
import type { FreshSecret } from './webhook-facts.ts';
import { NewWebhook } from './webhook-form.tsx';
import { StateTag } from './webhook-settings.tsx';

/** `which`: a webhook's id, or `new`. */
export function NewOrOneWebhook({ which }: { which: string }) {
  const [secret, setSecret] = useState<FreshSecret | null>(null);
  useEffect(() => setSecret((kept) => (kept?.webhookId === which ? kept : null)), [which]);
  if (which === 'new') {
    const onMade = (made: FreshSecret) => {
      setSecret(made);
      navigate(webhookAddress(made.webhookId), { replace: true });
    };
    return <NewWebhook onMade={onMade} />;
  }
  return <OneWebhook key={which} webhookId={which} secret={secret} onSecret={setSecret} />;
}

export function AllWebhooks() {
  const { api, organization } = useSignedIn();
  return (
    <ThingsPage
      page="webhooks"
      title="Webhooks"
      note="Signed messages to your own systems about new entries, erasures, limits and silent domains. Times are UTC."
      make={{ text: 'New webhook', href: webhookAddress('new') }}
      reading={useReading<Webhook[]>('webhooks', (signal) => webhooksOf(api).list(signal))}
      isEmpty={(webhooks) => webhooks.length === 0}
      none={{
        title: 'No webhooks yet',
        text: 'A webhook sends signed messages to an address of yours, such as a warehouse or a CRM that needs to know what visitors decide.',
      }}
    >
      {(webhooks) => (
        <ul class="card rows webhooks" aria-label="Webhooks">
          {webhooks.map((webhook) => (
            <li key={webhook.webhookId}>
              <p class="cluster baseline webhooks-url strong anywhere">
                <a href={webhookAddress(webhook.webhookId)}>{isolated(webhook.url)}</a>
                <StateTag webhook={webhook} />
              </p>
              <p class="hint">
                {typesText(webhook)} · {domainsText(webhook, organization)}
              </p>
              <p class="hint">
                {webhook.lastDeliveredAt === null
                  ? 'Nothing delivered yet'
                  : `Last delivered ${dateAndTime(webhook.lastDeliveredAt)}`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </ThingsPage>
  );
}
