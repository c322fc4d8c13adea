/** Archives and restores a domain: an archived domain does not record. */
import type { Key, ManagedDomain } from '#libs/tenants/contract';
import { useAttempt } from '../data/attempt.ts';
import type { Called } from '../data/calls.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { isUsedLately } from './managed-domain.ts';

interface DialogProps {
  domain: ManagedDomain;
  keys: Key[];
  onArchived(changed: Called<ManagedDomain>): Promise<void>;
  onClose(): void;
}

export function ArchiveDialog({ domain: { domainId, name }, keys, onArchived, onClose }: DialogProps) {
  const { api } = useSignedIn();
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const used = active.filter(isUsedLately);
  const archive = async () => onArchived(await api.manage.archiveDomain(domainId));
  const title = 'Archive this domain?';
  return (
    <ConfirmDialog title={title} action="Archive this domain" isDangerous act={archive} onClose={onClose}>
      <p>{isolated(name)} records nothing any more: within a second every new decision is refused.</p>
      <ul class="points stack gap-4">
        {active.length > 0 && (
          <li>
            {active.length === 1
              ? 'Its key is revoked for good.'
              : `Its ${count(active.length)} keys are revoked for good.`}
          </li>
        )}
        <li>Statistics, log, exports, access and erasure go on.</li>
        <li>
          You can restore it at any time, with new keys
          {active.some(({ isOfPage }) => isOfPage) && ': the published banner gets its own by itself'}.
        </li>
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

interface ArchivedProps {
  domainId: string;
  keys: Key[];
  archivedAt: string;
  onRestored(changed: Called<ManagedDomain>): void;
}

/** Says that a domain is archived, with a button that restores it. */
export function Archived({ domainId, keys, archivedAt, onRestored }: ArchivedProps) {
  const { api } = useSignedIn();
  const { failure, attempt } = useAttempt();
  const restore = async () => onRestored(await api.manage.changeDomain(domainId, { archivedAt: null }));
  return (
    <section class="card message plan-notice" aria-labelledby="archived-title">
      <h2 id="archived-title" tabIndex={-1}>
        This domain is archived
      </h2>
      <p>
        Since {dateAndTime(archivedAt)} UTC nothing is recorded. What was recorded before can still be read, exported
        and erased. The old keys stay revoked:{' '}
        {keys.some(({ isOfPage }) => isOfPage)
          ? 'restoring it puts a new one into the published banner, and programs of your own need another.'
          : 'after restoring it, create a new one.'}
      </p>
      <Failure>{failure}</Failure>
      <Button text="Restore" onClick={() => attempt(restore)} />
    </section>
  );
}
