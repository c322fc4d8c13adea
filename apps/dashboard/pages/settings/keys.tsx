/** The keys of a domain: those that record, and those that are revoked. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Key, MadeKey, ManagedDomain } from '#libs/contract/manage';
import type { Api } from '../../data/api.ts';
import { textOf } from '../../data/api-error.ts';
import { count, dateAndTime } from '../../format.ts';
import { RevokeDialog } from './revoke-dialog.tsx';

interface Props {
  api: Api;
  domain: ManagedDomain;
  keys: Key[];
  onMade(key: MadeKey): void;
  onRevoked(key: Key): void;
}

export function Keys({ api, domain: { domainId, archivedAt }, keys, onMade, onRevoked }: Props) {
  const [state, setState] = useState<'idle' | 'busy' | { failure: string }>('idle');
  const [revoking, setRevoking] = useState<string | null>(null);
  const create = useRef<HTMLButtonElement>(null);
  // the button that opened the dialog is gone with its key
  const wasRevoking = useRef(revoking);
  useEffect(() => {
    if (wasRevoking.current !== null && document.activeElement === document.body) create.current?.focus();
    wasRevoking.current = revoking;
  }, [revoking]);
  const make = () => {
    if (state === 'busy') return;
    setState('busy');
    api.manage.createKey(domainId).then(
      (key) => {
        setState('idle');
        onMade(key);
      },
      (error: unknown) => setState({ failure: textOf(error) }),
    );
  };
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const asked = keys.find(({ prefix }) => prefix === revoking);
  return (
    <section class="card settings-card" aria-labelledby="keys-title">
      <header class="card-head settings-keys-head">
        <h2 id="keys-title">Keys</h2>
        {archivedAt === null && (
          <button
            type="button"
            ref={create}
            class={`button settings-key${active.length === 0 && revoked.length > 0 ? ' primary' : ''}`}
            onClick={make}
          >
            New key
          </button>
        )}
      </header>
      {typeof state === 'object' && (
        <p class="field-note" role="alert">
          {state.failure}
        </p>
      )}
      {active.length === 0 ? (
        <p class="muted">
          {archivedAt === null
            ? 'No key yet: without one nothing is recorded. Make one and put it into the script tag of your pages.'
            : 'No active key.'}
        </p>
      ) : (
        <ul class="settings-keys" aria-label="Active keys">
          {active.map((key) => (
            <li key={key.prefix}>
              <div>
                <code>{key.prefix}…</code>
                <p class="hint">{usedText(key)}</p>
                <p class="hint">Created {dateAndTime(key.createdAt)}</p>
              </div>
              <button type="button" class="button danger" onClick={() => setRevoking(key.prefix)}>
                Revoke…<span class="hidden"> {key.prefix}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {revoked.length > 0 && (
        <details class="explain">
          <summary>Revoked keys: {count(revoked.length)}</summary>
          <ul class="settings-keys" aria-label="Revoked keys">
            {revoked.map((key) => (
              <li key={key.prefix}>
                <div>
                  <code>{key.prefix}…</code>
                  <p class="hint">Revoked {dateAndTime(key.revokedAt ?? '')}</p>
                  <p class="hint">{usedText(key)}</p>
                </div>
              </li>
            ))}
          </ul>
        </details>
      )}
      {asked && (
        <RevokeDialog
          api={api}
          domainId={domainId}
          shown={asked}
          onRevoked={onRevoked}
          onClose={() => setRevoking(null)}
        />
      )}
    </section>
  );
}

const usedText = ({ lastUsedAt }: Key): string =>
  lastUsedAt === null ? 'Never used' : `Last used ${dateAndTime(lastUsedAt)}`;
