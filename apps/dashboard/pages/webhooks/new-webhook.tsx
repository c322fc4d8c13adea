/** Makes a webhook. */
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { navigate, webhooksAddress } from '../../data/router.ts';
import { mayReadLogs } from '../../data/scopes.ts';
import { bodyOf, type Draft, draftOf } from '../../data/webhook-draft.ts';
import type { FreshSecret } from '../../data/webhooks.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { WebhookForm } from './webhook-form.tsx';

interface Props {
  api: Api;
  organization: Organization;
  onMade(secret: FreshSecret): void;
}

export function NewWebhook({ api, organization, onMade }: Props) {
  const make = async (draft: Draft) => {
    const { webhookId, secret } = await api.webhooks.create(bodyOf(draft));
    onMade({ webhookId, secret, previousUntil: null });
  };
  const types = mayReadLogs(organization) ? (['records.sealed'] as const) : [];
  return (
    <>
      <PageHead
        title="New webhook"
        note="A webhook receives what happens from now on. You can replay earlier entries."
        way={[
          { name: 'Webhooks', address: webhooksAddress },
          { name: 'New webhook', address: null },
        ]}
      />
      <section class="card" aria-label="New webhook">
        <WebhookForm
          organization={organization}
          given={draftOf({ url: '', types: [...types] })}
          action="Create webhook"
          save={make}
          onCancel={() => navigate(webhooksAddress)}
        />
      </section>
    </>
  );
}
