import type { Webhook } from '#libs/contract/webhook';
import { navigate, webhooksAddress } from '../../data/router.ts';
import { hostOf } from '../../data/webhooks.ts';
import { escapeInvisible } from '../../format.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

interface Props {
  webhook: Webhook;
  remove(): Promise<void>;
  onClose(): void;
}

export function DeleteDialog({ webhook: { url }, remove, onClose }: Props) {
  const act = async () => {
    await remove();
    navigate(webhooksAddress, { replace: true });
  };
  return (
    <ConfirmDialog title="Delete this webhook?" action="Delete this webhook" isDangerous act={act} onClose={onClose}>
      <p>
        Nothing more is sent to <bdi>{escapeInvisible(hostOf(url))}</bdi>, and its list of deliveries is deleted too.
        This cannot be undone. To stop for a while, pause it instead.
      </p>
    </ConfirmDialog>
  );
}
