/** The keys of a domain: active ones, revoked ones, and one that was just created. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Key, MadeKey, ManagedDomain } from '#libs/tenants/contract';
import { useAttempt } from '../data/attempt.ts';
import { widgetAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime } from '../format.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { ConfirmDialog, DoneDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/field.tsx';
import { FocusedTitle, useFocusAfter } from '../parts/focus.tsx';
import { Snippet } from '../parts/snippet.tsx';
import { isUsedLately } from './managed-domain.ts';

interface Props {
  domain: ManagedDomain;
  keys: Key[];
  onMade(key: MadeKey): void;
  onRevoked(key: Key): void;
}

export function Keys({ domain: { domainId, archivedAt }, keys, onMade, onRevoked }: Props) {
  const { api } = useSignedIn();
  const { failure, attempt } = useAttempt();
  const [revoking, setRevoking] = useState<string | null>(null);
  const create = useRef<HTMLButtonElement>(null);
  // the button that opened the dialog disappears with its key
  useFocusAfter(revoking !== null, (is) => (is ? null : create.current));
  const make = async () => onMade(await api.manage.createKey(domainId));
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const asked = keys.find(({ prefix }) => prefix === revoking);
  return (
    <section class="card stack gap-16" aria-labelledby="keys-title">
      <header class="card-head settings-keys-head">
        <h2 id="keys-title">Keys</h2>
        {archivedAt === null && (
          <button
            type="button"
            ref={create}
            class={`button settings-key${active.length === 0 && revoked.length > 0 ? ' primary' : ''}`}
            onClick={() => attempt(make)}
          >
            New key
          </button>
        )}
      </header>
      <Failure>{failure}</Failure>
      {active.length === 0 ? (
        <p class="muted">
          {archivedAt === null
            ? 'No key yet: without one nothing is recorded. Publishing the banner creates the key of your pages.'
            : 'No active key.'}
        </p>
      ) : (
        <ul class="rows after-head settings-keys" aria-label="Active keys">
          {active.map((key) => (
            <Row key={key.prefix} shown={key} notes={[usedText(key), `Created ${dateAndTime(key.createdAt)}`]}>
              <Button kind="danger" onClick={() => setRevoking(key.prefix)}>
                Revoke…<span class="hidden"> {key.prefix}</span>
              </Button>
            </Row>
          ))}
        </ul>
      )}
      {revoked.length > 0 && (
        <details class="explain">
          <summary>Revoked keys: {count(revoked.length)}</summary>
          <ul class="rows after-head settings-keys" aria-label="Revoked keys">
            {revoked.map((key) => (
              <Row
                key={key.prefix}
                shown={key}
                notes={[`Revoked ${dateAndTime(key.revokedAt ?? '')}`, usedText(key)]}
              />
            ))}
          </ul>
        </details>
      )}
      {asked && (
        <RevokeDialog domainId={domainId} shown={asked} onRevoked={onRevoked} onClose={() => setRevoking(null)} />
      )}
    </section>
  );
}

const Row = ({ shown, notes, children }: { shown: Key; notes: string[]; children?: ComponentChildren }) => (
  <li class="cluster spread">
    <div>
      <code>{shown.prefix}…</code>
      {isInBanner(shown) && <span class="tag">In the published banner</span>}
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
    </div>
    {children}
  </li>
);

const isInBanner = ({ isOfPage, revokedAt }: Key): boolean => isOfPage && revokedAt === null;

const usedText = ({ lastUsedAt }: Key): string =>
  lastUsedAt === null ? 'Never used' : `Last used ${dateAndTime(lastUsedAt)}`;

interface RevokeProps {
  domainId: string;
  /** the current state: somebody else may revoke the key while the dialog is open */
  shown: Key;
  onRevoked(key: Key): void;
  onClose(): void;
}

function RevokeDialog({ domainId, shown, onRevoked, onClose }: RevokeProps) {
  const { api } = useSignedIn();
  const { prefix, lastUsedAt, revokedAt } = shown;
  const name = <code>{prefix}…</code>;
  if (revokedAt !== null)
    return (
      <DoneDialog title="This key is revoked already" onClose={onClose}>
        <p>
          {name} was revoked at {dateAndTime(revokedAt)} UTC. There is nothing left to do.
        </p>
      </DoneDialog>
    );
  const revoke = async () => onRevoked(await api.manage.revokeKey(domainId, prefix));
  return (
    <ConfirmDialog title="Revoke this key?" action="Revoke this key" isDangerous act={revoke} onClose={onClose}>
      {isUsedLately(shown) && lastUsedAt !== null && (
        <p class="notice notice-bad">
          It was used within the last hour, at {dateAndTime(lastUsedAt)} UTC.
          {!shown.isOfPage && ' Pages that have it record nothing any more: put another key into them first.'}
        </p>
      )}
      {shown.isOfPage && (
        <p>
          It is in the published banner, where a new key replaces it at once. Browsers may have the former file for five
          minutes, and on the first page of a visit for up to a day: they keep what is decided meanwhile and send it
          with the new key.
        </p>
      )}
      <p>Within a second nothing is recorded with {name} any more. This cannot be undone.</p>
    </ConfirmDialog>
  );
}

interface CardProps {
  made: MadeKey;
  /** somebody may have revoked it in the meantime */
  revokedAt: string | null;
  domainId: string;
  onDone(): void;
}

/** A new key. It is shown only once. */
export function KeyCard({ made: { apiKey }, revokedAt, domainId, onDone }: CardProps) {
  const isGood = revokedAt === null;
  return (
    <section class="card message once" aria-labelledby="made-title">
      <FocusedTitle id="made-title" of={apiKey}>
        {isGood ? 'Copy the key now: it is not shown again' : 'This key has been revoked'}
      </FocusedTitle>
      {isGood ? (
        <>
          <p>
            It is for programs of your own and for other banners. The tag of our banner needs none: publishing creates
            the key of your pages.
          </p>
          <Snippet name="Key" code={apiKey} />
        </>
      ) : (
        <p>Nothing is recorded with it any more. Make another one.</p>
      )}
      <div class="actions">
        <Button text="Done" onClick={onDone} />
        {isGood && <ButtonLink text="Set up the banner" href={widgetAddress(domainId)} />}
      </div>
    </section>
  );
}
