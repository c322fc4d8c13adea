import type { Key } from '#libs/contract/manage';
import type { Api } from '../../data/api.ts';
import { isUsedLately } from '../../data/keys.ts';
import { dateAndTime } from '../../format.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog.tsx';

interface Props {
  api: Api;
  domainId: string;
  /** as it is now: somebody else may revoke it while the dialog is open */
  shown: Key;
  onRevoked(key: Key): void;
  onClose(): void;
}

export function RevokeDialog({ api, domainId, shown, onRevoked, onClose }: Props) {
  const { prefix, lastUsedAt, revokedAt } = shown;
  const name = <code>{prefix}…</code>;
  if (revokedAt !== null)
    return (
      <Dialog title="This key is revoked already" isBusy={false} onClose={onClose}>
        <p>
          {name} was revoked at {dateAndTime(revokedAt)} UTC. There is nothing left to do.
        </p>
        <div class="actions">
          <button type="button" class="button primary" onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  const revoke = async () => onRevoked(await api.manage.revokeKey(domainId, prefix));
  return (
    <ConfirmDialog title="Revoke this key?" action="Revoke this key" isDangerous act={revoke} onClose={onClose}>
      {isUsedLately(shown) && lastUsedAt !== null && (
        <p class="notice notice-bad">
          It was used within the last hour, at {dateAndTime(lastUsedAt)} UTC. Pages that have it record nothing any
          more: put another key into them first.
        </p>
      )}
      <p>Within a second nothing is recorded with {name} any more. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
