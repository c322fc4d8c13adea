/** Webhooks of the organization: all, one, or a new one. The token needs a scope. */
import './webhooks.css';
import { useEffect, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { navigate, webhookAddress } from '../../data/router.ts';
import { mayManage } from '../../data/scopes.ts';
import type { FreshSecret } from '../../data/webhooks.ts';
import { NotAllowed } from '../../parts/not-allowed.tsx';
import { AllWebhooks } from './all-webhooks.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { OneWebhook } from './one-webhook.tsx';
import { WebhooksHead } from './webhooks-head.tsx';

interface Props {
  api: Api;
  organization: Organization;
  /** a webhook's id, `new`, or null for all */
  which: string | null;
}

export function Webhooks({ api, organization, which }: Props) {
  const [secret, setSecret] = useState<FreshSecret | null>(null);
  useEffect(() => setSecret((kept) => (kept?.webhookId === which ? kept : null)), [which]);
  if (!mayManage(organization))
    return (
      <>
        <WebhooksHead organization={organization} />
        <NotAllowed what="Seeing and changing webhooks" scope="manage" />
      </>
    );
  if (which === null) return <AllWebhooks api={api} organization={organization} />;
  if (which === 'new') {
    const onMade = (made: FreshSecret) => {
      setSecret(made);
      navigate(webhookAddress(made.webhookId), { replace: true });
    };
    return <NewWebhook api={api} organization={organization} onMade={onMade} />;
  }
  return (
    <OneWebhook
      key={which}
      api={api}
      organization={organization}
      webhookId={which}
      secret={secret}
      onSecret={setSecret}
    />
  );
}
