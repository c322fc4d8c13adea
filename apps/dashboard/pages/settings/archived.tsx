/** Says that a domain is archived, and brings it back. */
import { useState } from 'preact/hooks';
import type { ManagedDomain } from '#libs/contract/manage';
import type { Api } from '../../data/api.ts';
import { textOf } from '../../data/api-error.ts';
import type { Called } from '../../data/webhook-api.ts';
import { dateAndTime } from '../../format.ts';

interface Props {
  api: Api;
  domainId: string;
  archivedAt: string;
  onRestored(changed: Called<ManagedDomain>): void;
}

export function Archived({ api, domainId, archivedAt, onRestored }: Props) {
  const [state, setState] = useState<'asks' | 'busy' | { failure: string }>('asks');
  const restore = () => {
    if (state === 'busy') return;
    setState('busy');
    api.manage
      .changeDomain(domainId, { archivedAt: null })
      .then(onRestored, (error: unknown) => setState({ failure: textOf(error) }));
  };
  return (
    <section class="card message plan-notice" aria-labelledby="archived-title">
      <h2 id="archived-title" tabIndex={-1}>
        This domain is archived
      </h2>
      <p>
        Since {dateAndTime(archivedAt)} UTC nothing is recorded. What was recorded before can still be read, exported
        and erased. After restoring it, make a new key: the old ones stay revoked.
      </p>
      {typeof state === 'object' && (
        <p class="field-note" role="alert">
          {state.failure}
        </p>
      )}
      <button type="button" class="button" onClick={restore}>
        Restore
      </button>
    </section>
  );
}
