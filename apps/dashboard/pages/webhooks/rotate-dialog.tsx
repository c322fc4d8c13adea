import type { Api } from '../../data/api.ts';
import type { FreshSecret } from '../../data/webhooks.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

interface Props {
  api: Api;
  webhookId: string;
  onSecret(secret: FreshSecret): void;
  onClose(): void;
}

export function RotateDialog({ api, webhookId, onSecret, onClose }: Props) {
  const rotate = async () => {
    const { secret, previousUntil } = await api.webhooks.rotate(webhookId);
    onSecret({ webhookId, secret, previousUntil });
  };
  return (
    <ConfirmDialog title="Make a new secret?" action="Make a new secret" act={rotate} onClose={onClose}>
      <p>
        For 24 hours messages are signed with both secrets, so you have a day to update your receiver. After that the
        current secret stops working.
      </p>
    </ConfirmDialog>
  );
}
