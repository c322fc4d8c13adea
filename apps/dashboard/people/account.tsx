/** A person's own account: name, password, passkeys and sessions. */
import { useState } from 'preact/hooks';
import type { Me } from '#libs/people/contract';
import { useAttempt } from '../data/attempt.ts';
import { bodyOf } from '../data/calls.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { AccountField, emptyIn, errorsByField, NewPassword, trimmed } from '../parts/account-fields.tsx';
import { Button } from '../parts/button.tsx';
import { DraftForm } from '../parts/draft-form.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Passkeys } from './passkeys.tsx';

export function Account() {
  const { me } = useSignedIn();
  return (
    <>
      <PageHead title="My account" note={me.value?.email ?? 'How you sign in'} />
      <LoadingOrError reading={me} kind="table" />
      {me.value === null && (
        <section class="card message">
          <h2>You have no account here</h2>
          <p>You are signed in with an access token, or with an identity provider: your account is there.</p>
        </section>
      )}
      {me.value && (
        <>
          <Name me={me.value} />
          <Password me={me.value} />
          <Passkeys me={me.value} />
          <Sessions />
        </>
      )}
    </>
  );
}

/** Saves a change, and then shows `confirmation`. */
function useChange(confirmation: string) {
  const { api, me } = useSignedIn();
  const [done, setDone] = useState('');
  const save = async (body: { name?: string; password?: string; oldPassword?: string }) => {
    setDone('');
    me.put(await api.call('patch /v1/people/me', { body }).then(bodyOf));
    setDone(confirmation);
  };
  return { save, done: <p role="status">{done}</p> };
}

function Name({ me: { name } }: { me: Me }) {
  const { save, done } = useChange('Your name is changed.');
  return (
    <section class="card stack gap-16" aria-labelledby="name-title">
      <h2 id="name-title">Name</h2>
      <DraftForm given={{ name }} clean={trimmed} wrongIn={emptyIn} errorsOf={errorsByField} action="Save" save={save}>
        {(drafted) => (
          <AccountField
            name="name"
            drafted={drafted}
            label="Your name"
            autocomplete="name"
            note="Colleagues see it next to what you do"
          />
        )}
      </DraftForm>
      {done}
    </section>
  );
}

const none = { oldPassword: '', password: '' };

function Password({ me: { passwordOff } }: { me: Me }) {
  const { save, done } = useChange(
    'Your password is changed. All your other sessions have ended. Pages that are open there stop within five minutes.',
  );
  const [changes, setChanges] = useState(0);
  return (
    <section class="card stack gap-16" aria-labelledby="password-title">
      <h2 id="password-title">Password</h2>
      {passwordOff ? (
        <p>The password is switched off, so there is nothing to change. You can switch it on below.</p>
      ) : (
        <DraftForm
          key={changes}
          given={none}
          wrongIn={emptyIn}
          errorsOf={errorsByField}
          action="Change the password"
          save={(draft) => save(draft).then(() => setChanges(changes + 1))}
        >
          {(drafted) => (
            <>
              <AccountField
                name="oldPassword"
                drafted={drafted}
                label="Old password"
                type="password"
                autocomplete="current-password"
              />
              <NewPassword drafted={drafted} label="New password" />
            </>
          )}
        </DraftForm>
      )}
      {done}
    </section>
  );
}

function Sessions() {
  const { signOut } = useSignedIn();
  const { attempt } = useAttempt();
  return (
    <section class="card stack gap-16" aria-labelledby="sessions-title">
      <h2 id="sessions-title">Sessions</h2>
      <p>
        A session ends after 30 days without use. If you have lost a device, or have signed in where others can, end all
        sessions, also this one. Pages that are open elsewhere stop within five minutes.
      </p>
      <div class="actions">
        <Button text="Sign out" onClick={() => attempt(() => signOut(false))} />
        <Button text="Sign out everywhere" kind="danger" onClick={() => attempt(() => signOut(true))} />
      </div>
    </section>
  );
}
