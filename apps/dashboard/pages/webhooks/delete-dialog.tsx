import type { Webhook } from '#libs/contract/webhook';
import type { Api } from '../../data/api.ts';
import { navigate, webhooksAddress } from '../../data/router.ts';
import { hostOf } from '../../data/webhooks.ts';
import { escapeInvisible } from '../../format.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

interface Props {
  api: Api;
  webhook: Webhook;
  onClose(): void;
}

export function DeleteDialog({ api, webhook: { webhookId, url }, onClose }: Props) {
  const remove = async () => {
    await api.webhooks.remove(webhookId);
    navigate(webhooksAddress, { replace: true });
  };
  return (
    <ConfirmDialog title="Delete this webhook?" action="Delete this webhook" isDangerous act={remove} onClose={onClose}>
      <p>
        Nothing more is sent to <bdi>{escapeInvisible(hostOf(url))}</bdi>, and its list of deliveries is deleted too.
        This cannot be undone. To stop for a while, pause it instead.
      </p>
    </ConfirmDialog>
  );
}
