/** Explains what an erasure removes and what it keeps, and runs it. */

import { useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { Erasure } from '#libs/privacy/contract';
import { useAttempt } from '../data/attempt.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { counted } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/field.tsx';
import { type Erased, type ErasedVisitor, erase } from './erasing.ts';

interface Props {
  visitor: ErasedVisitor;
  onErased(erased: Erased): void;
  onClose(): void;
}

export function EraseDialog({ visitor, onErased, onClose }: Props) {
  const { api } = useSignedIn();
  const [running, setRunning] = useState<Erasure | null>(null);
  const { isBusy, failure, attempt } = useAttempt();
  const begin = async () => {
    setRunning(null);
    onErased(await erase(api, visitor, setRunning));
  };
  return (
    <Dialog title="Erase this visitor?" isBusy={isBusy} onClose={onClose}>
      <p>
        This cannot be undone. It concerns {counted(visitor.records.length, 'record')}{' '}
        {visitor.domainId === null ? 'in all domains' : 'of this domain'}, and what still arrives from this visitor in
        the next 32 days.
      </p>
      <div class="erase-lists">
        <section aria-labelledby="erase-goes">
          <h3 id="erase-goes">Deleted</h3>
          <ul class="points">
            <li>the visitor’s id</li>
            <li>IP address and browser</li>
            <li>page and metadata</li>
          </ul>
        </section>
        <section aria-labelledby="erase-stays">
          <h3 id="erase-stays">Kept</h3>
          <ul class="points">
            <li>each decision, its time and its categories</li>
            <li>what was shown, versions, variant and language</li>
            <li>country, region, model, consent strings (TC, GPP) and privacy signal</li>
            <li>figures and proofs</li>
          </ul>
        </section>
      </div>
      <p class="muted">
        Without the id nobody can find the visitor’s records again. Download them first if you need them.
      </p>
      <div role="status">
        {isBusy && <p>{running ? `Erasing: ${counted(running.records, 'record')} so far` : 'Erasing'}</p>}
      </div>
      <Failure>{failure}</Failure>
      <div class="actions">
        <Button text="Cancel" disabled={isBusy} onClick={onClose} />
        <Button text="Erase this visitor" kind="danger" disabled={isBusy} onClick={() => attempt(begin, failureOf)} />
      </div>
    </Dialog>
  );
}

const failureOf = (error: unknown): string =>
  error instanceof AssentError
    ? `The erasure is not confirmed: ${error.message} Erase again: a second time does no harm.`
    : 'Something went wrong. Erase again: a second time does no harm.';
