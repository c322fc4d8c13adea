/** The record in the address: taken from the list, or read if the list does not contain it. */
import { useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { domainIn } from '../data/domains.ts';
import { findRecord } from '../data/find-record.ts';
import { useReading } from '../data/query.ts';
import { mayReadVisitors } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { escapeInvisible } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorCard } from '../parts/error-card.tsx';
import { RecordDetails } from '../parts/record-details.tsx';

interface Props {
  domainId: string;
  recordId: string;
  listed: FullRecord | undefined;
  onClose(): void;
}

export function OpenRecord({ domainId, recordId, listed, onClose }: Props) {
  const { api, organization } = useSignedIn();
  // stays open even if a newer list no longer contains it
  const [first] = useState(listed);
  const reading = useReading(recordId, async (signal) => first ?? (await findRecord(api, domainId, recordId, signal)));
  const record = first ?? reading.value;
  if (record) {
    const { name } = domainIn(organization, domainId);
    return (
      <RecordDetails record={record} domainName={name} hasVisitors={mayReadVisitors(organization)} onClose={onClose} />
    );
  }
  if (record === undefined && !reading.error) return null;
  return (
    <Dialog
      title={record === null ? 'Record not found' : 'The record could not be read'}
      isBusy={false}
      onClose={onClose}
    >
      {reading.error ? (
        <ErrorCard error={reading.error} retry={reading.retry} />
      ) : (
        <p class="anywhere">
          This domain has no record with the id <bdi>“{escapeInvisible(recordId)}”</bdi>. It may belong to another
          domain, not be stored yet, or be older than this service keeps records.
        </p>
      )}
      <div class="actions">
        <Button text="Close" onClick={onClose} />
      </div>
    </Dialog>
  );
}
