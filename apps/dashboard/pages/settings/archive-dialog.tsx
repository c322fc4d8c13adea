import type { Key, ManagedDomain } from '#libs/contract/manage';
import type { Api } from '../../data/api.ts';
import { isUsedLately } from '../../data/keys.ts';
import type { Called } from '../../data/webhook-api.ts';
import { count, escapeInvisible } from '../../format.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

interface Props {
  api: Api;
  domain: ManagedDomain;
  keys: Key[];
  onArchived(changed: Called<ManagedDomain>): Promise<void>;
  onClose(): void;
}

export function ArchiveDialog({ api, domain: { domainId, name }, keys, onArchived, onClose }: Props) {
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const used = active.filter(isUsedLately);
  const archive = async () => onArchived(await api.manage.archiveDomain(domainId));
  return (
    <ConfirmDialog
      title="Archive this domain?"
      action="Archive this domain"
      isDangerous
      act={archive}
      onClose={onClose}
    >
      <p>
        <bdi>{escapeInvisible(name)}</bdi> records nothing any more: within a second every new decision is refused.
      </p>
      <ul class="settings-points">
        {active.length > 0 && (
          <li>
            {active.length === 1
              ? 'Its key is revoked for good.'
              : `Its ${count(active.length)} keys are revoked for good.`}
          </li>
        )}
        <li>Statistics, log, exports, access and erasure go on.</li>
        <li>You can restore it at any time, with new keys.</li>
      </ul>
      {used.length > 0 && (
        <p class="notice notice-bad">
          {used.length === 1 ? 'A key was' : `${count(used.length)} keys were`} used within the last hour: websites
          still record for this domain.
        </p>
      )}
    </ConfirmDialog>
  );
}
