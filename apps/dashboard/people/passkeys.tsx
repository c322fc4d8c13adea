/** A person's passkeys, and whether the password signs in as well. */
import { useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { Me, Passkey } from '#libs/people/contract';
import { textOf } from '../data/api-error.ts';
import { useAttempt } from '../data/attempt.ts';
import { bodyOf } from '../data/calls.ts';
import { addPasskey, hasPasskeys } from '../data/passkeys.ts';
import { useReading } from '../data/query.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure, Field } from '../parts/field.tsx';
import { useFocusAfter } from '../parts/focus.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';

const own = '/v1/people/me/passkeys';

export function Passkeys({ me: { passwordOff } }: { me: Me }) {
  const { api, me } = useSignedIn();
  const [asked, setAsked] = useState<Passkey | 'password' | null>(null);
  // each action clears the error of the one before
  const [actions, setActions] = useState(0);
  useFocusAfter(asked !== null, (is) => (is ? null : document.querySelector<HTMLElement>('#passkeys-title')));
  const read = (signal?: AbortSignal) => api.call(`get ${own}`, { signal }).then(({ body }) => body.passkeys);
  const reading = useReading<Passkey[]>('passkeys', read);
  const refresh = async () => reading.put(await read());
  const setPasswordOff = async (isOff: boolean) =>
    me.put(await api.call('patch /v1/people/me', { body: { passwordOff: isOff } }).then(bodyOf));
  const remove = async ({ passkeyId }: Passkey) => {
    await api.call(`delete ${own}/:passkeyId`, { params: { passkeyId } });
    await refresh();
    me.put(await api.call('get /v1/people/me', {}).then(bodyOf));
  };
  const ask = (subject: Passkey | 'password') => {
    setAsked(subject);
    setActions(actions + 1);
  };
  const passkeys = reading.value;
  const isLast = passkeys?.length === 1;
  return (
    <section class="card stack gap-16" aria-labelledby="passkeys-title">
      <h2 id="passkeys-title" tabIndex={-1}>
        Passkeys
      </h2>
      <p>With a passkey you sign in by the fingerprint, face or PIN of a device, without your e-mail and password.</p>
      <LoadingOrError reading={reading} kind="table" />
      {passkeys && passkeys.length > 0 && (
        <ul class="rows" aria-label="Passkeys">
          {passkeys.map((passkey) => (
            <li key={passkey.passkeyId} class="cluster spread">
              <div>
                <p class="strong">{isolated(passkey.name)}</p>
                <p class="hint">
                  Added {dateAndTime(passkey.createdAt)} ·{' '}
                  {passkey.lastUsedAt === null ? 'not used yet' : `last used ${dateAndTime(passkey.lastUsedAt)}`}
                </p>
              </div>
              <Button kind="danger" onClick={() => ask(passkey)}>
                Remove…<span class="hidden"> {passkey.name}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      {hasPasskeys() ? (
        passkeys && <Add key={actions} refresh={refresh} />
      ) : (
        <p class="hint">This browser cannot add a passkey here. Passkeys need https, or localhost.</p>
      )}
      {passkeys && (passkeys.length > 0 || passwordOff) && (
        <div class="cluster spread">
          <p>{passwordOff ? 'Your password is switched off.' : 'You can also sign in with your password.'}</p>
          <Button onClick={() => ask('password')}>
            {passwordOff ? 'Switch the password on…' : 'Switch the password off…'}
          </Button>
        </div>
      )}
      {asked === 'password' && (
        <ConfirmDialog
          title={passwordOff ? 'Switch the password on?' : 'Switch the password off?'}
          action={passwordOff ? 'Switch on' : 'Switch off'}
          act={() => setPasswordOff(!passwordOff)}
          onClose={() => setAsked(null)}
        >
          <p>
            {passwordOff
              ? 'You can then sign in with your last password again.'
              : 'You can then sign in only with a passkey. All your other sessions end. Pages that are open there stop within five minutes.'}
          </p>
        </ConfirmDialog>
      )}
      {asked !== null && asked !== 'password' && (
        <ConfirmDialog
          title={`Remove ${asked.name}?`}
          action="Remove"
          isDangerous
          act={() => remove(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            It no longer signs you in, and all your other sessions end. Pages that are open there stop within five
            minutes.
            {isLast && passwordOff && ' It is your last one, so your password is switched on again.'}
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function Add({ refresh }: { refresh(): Promise<void> }) {
  const { api, signOut } = useSignedIn();
  const [name, setName] = useState('');
  const [isTooLate, setTooLate] = useState(false);
  const { isBusy, failure, attempt } = useAttempt();
  const add = async () => {
    setTooLate(false);
    await addPasskey(api, name.trim());
    setName('');
    await refresh();
  };
  const wordsFor = (error: unknown) => {
    const isOld = error instanceof AssentError && error.code === 'invalid_credentials';
    setTooLate(isOld);
    return isOld ? 'A passkey can be added within ten minutes of a sign-in. Sign in again first.' : textOf(error);
  };
  return (
    <form
      class="form full"
      onSubmit={(event) => {
        event.preventDefault();
        attempt(add, wordsFor);
      }}
    >
      <Field
        label="Name of the passkey"
        name="passkey"
        maxLength={200}
        noteId="passkey-note"
        note="Optional, to recognize it by: such as the device"
        error={undefined}
        value={name}
        onText={setName}
      />
      <Failure>{failure}</Failure>
      <div class="actions">
        {isTooLate && <Button text="Sign in again" onClick={() => attempt(() => signOut(false))} />}
        <Button text={isBusy ? 'Waiting for the device …' : 'Add a passkey'} type="submit" kind="primary" />
      </div>
    </form>
  );
}
