/** The notice that the visitor was shown, loaded on demand. */

import { useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { FullRecord } from '#libs/record/contract';
import { noticesAddress } from '../data/router.ts';
import { mayRead } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { NoticeDocument } from './notice-document.tsx';

type Found = { text: string } | { failure: string } | null;

interface Props {
  record: FullRecord;
  /** the notice, if it came with the record */
  text?: string | undefined;
  /** open from the start */
  isOpen?: boolean;
}

/** Empty if the record has no notice. */
export function RecordNotice({ record, text: known, isOpen = false }: Props) {
  const { api, organization } = useSignedIn();
  const [found, setFound] = useState<Found>(known === undefined ? null : { text: known });
  const { notice, domainId, decidedAt } = record;
  if (notice === null) return null;
  const read = () => {
    if (found && 'text' in found) return;
    api.notice(domainId, notice).then(
      (text) => setFound({ text }),
      (error: unknown) => setFound({ failure: failureOf(error) }),
    );
  };
  return (
    <details class="record-notice explain" open={isOpen} onToggle={(event) => event.currentTarget.open && read()}>
      <summary>What was shown</summary>
      {found && 'text' in found && <NoticeDocument text={found.text} />}
      <div role="status">
        {!found && <p>Loading</p>}
        {found && 'failure' in found && <p>{found.failure}</p>}
      </div>
      <p>
        SHA-256 <code>{notice}</code>{' '}
        {mayRead(organization) && (
          <a href={noticesAddress(domainId, { day: decidedAt.slice(0, 10), notice })}>When it was shown</a>
        )}
      </p>
    </details>
  );
}

const failureOf = (error: unknown): string =>
  error instanceof AssentError && error.code === 'notice_not_found'
    ? 'No browser has sent this notice yet.'
    : 'The notice could not be read. Close and open this part to try again.';
