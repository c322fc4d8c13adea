/** Changes a webhook, unless somebody else has done so since the form was opened. */
import { useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import type { Webhook } from '#libs/contract/webhook';
import type { Api } from '../../data/api.ts';
import type { Called } from '../../data/webhook-api.ts';
import { bodyOf, type Draft, draftOf } from '../../data/webhook-draft.ts';
import type { WebhookSnapshot } from '../../data/webhook-reading.ts';
import { WebhookForm } from './webhook-form.tsx';

interface Props {
  api: Api;
  organization: Organization;
  snapshot: WebhookSnapshot;
  onChanged(changed: Called<Webhook>): void;
  onClose(): void;
}

export function ChangeWebhook({ api, organization, snapshot, onChanged, onClose }: Props) {
  // the page goes on being updated below the form
  const [{ webhook, tag }] = useState(snapshot);
  const save = async (draft: Draft) => {
    onChanged(await api.webhooks.change(webhook.webhookId, bodyOf(draft), tag));
    onClose();
  };
  return (
    <WebhookForm
      organization={organization}
      given={draftOf(webhook)}
      action="Save changes"
      save={save}
      onCancel={onClose}
    />
  );
}
