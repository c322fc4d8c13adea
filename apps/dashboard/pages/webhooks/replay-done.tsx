/** What a replay sends again. */
import type { Organization } from '#libs/contract/statistics';
import type { Webhook, WebhookReplay } from '#libs/contract/webhook';
import { count } from '../../format.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { nameOfDomain } from './coverage.ts';

interface Props {
  replayed: WebhookReplay;
  organization: Organization;
  webhook: Webhook;
  onClose(): void;
}

export function ReplayDone({ replayed: { domainId, from, size }, organization, webhook, onClose }: Props) {
  const entries = size - from;
  const counted = entries === 0 ? 'No entry' : entries === 1 ? '1 entry' : `${count(entries)} entries`;
  const name = <bdi>{nameOfDomain(organization, domainId)}</bdi>;
  return (
    <Dialog title="Replay entries" isBusy={false} onClose={onClose}>
      <p role="status">
        {webhook.decisions === null || entries === 0 ? (
          <>
            {counted} of {name} will be sent again
          </>
        ) : (
          <>
            Of {counted} of {name}, those with the chosen decisions will be sent again
          </>
        )}
        {webhook.enabled ? '.' : ', once the webhook is resumed.'}
      </p>
      <div class="actions">
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
