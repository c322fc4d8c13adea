/** Says what an erasure takes and what it leaves, and erases. */
import { useState } from 'preact/hooks';
import type { Erasure } from '#libs/contract/privacy';
import type { FullRecord } from '#libs/contract/record';
import type { Api } from '../../data/api.ts';
import { ApiError } from '../../data/api-error.ts';
import { type Erased, erase } from '../../data/erasing.ts';
import { count } from '../../format.ts';
import { Dialog } from '../../parts/dialog.tsx';

interface Props {
  api: Api;
  visitor: { domainId: string; visitorId: string; records: FullRecord[] };
  onErased(erased: Erased): void;
  onClose(): void;
}

type State = 'asks' | 'begins' | Erasure | { failure: string };

export function EraseDialog({ api, visitor, onErased, onClose }: Props) {
  const [state, setState] = useState<State>('asks');
  const isBusy = state === 'begins' || (typeof state === 'object' && 'erasureId' in state);
  const begin = () => {
    setState('begins');
    erase(api, visitor, setState).then(onErased, (error: unknown) => setState({ failure: failureOf(error) }));
  };
  return (
    <Dialog title="Erase this visitor?" isBusy={isBusy} onClose={onClose}>
      <p>
        This cannot be undone. It concerns {count(visitor.records.length)}{' '}
        {visitor.records.length === 1 ? 'record' : 'records'} of this domain, and what still arrives from this visitor
        in the next 32 days.
      </p>
      <div class="erase-lists">
        <section aria-labelledby="erase-goes">
          <h3 id="erase-goes">What goes</h3>
          <ul>
            <li>the visitor’s id</li>
            <li>IP address and browser</li>
            <li>page and metadata</li>
          </ul>
        </section>
        <section aria-labelledby="erase-stays">
          <h3 id="erase-stays">What stays</h3>
          <ul>
            <li>each decision, its time and its categories</li>
            <li>what was shown, versions and language</li>
            <li>figures and proofs</li>
          </ul>
        </section>
      </div>
      <p class="muted">
        Without the id nobody can find the visitor’s records again. Download them first if you need them.
      </p>
      <div role="status">
        {state === 'begins' && <p>Erasing</p>}
        {typeof state === 'object' && 'erasureId' in state && <p>Erasing: {count(state.records)} records so far</p>}
      </div>
      {typeof state === 'object' && 'failure' in state && (
        <p class="field-note" role="alert">
          {state.failure}
        </p>
      )}
      <div class="actions">
        <button type="button" class="button" disabled={isBusy} onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={isBusy} onClick={begin}>
          Erase this visitor
        </button>
      </div>
    </Dialog>
  );
}

const failureOf = (error: unknown): string =>
  error instanceof ApiError
    ? `The erasure is not confirmed: ${error.message} Erase again: a second time does no harm.`
    : 'Something went wrong. Erase again: a second time does no harm.';
