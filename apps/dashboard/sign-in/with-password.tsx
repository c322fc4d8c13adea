/** Signs in to an account, with a password or a passkey. */
import type { InputHTMLAttributes } from 'preact';
import { useState } from 'preact/hooks';
import type { SignedIn } from '#libs/people/contract';
import { useAttempt } from '../data/attempt.ts';
import { bodyOf } from '../data/calls.ts';
import { hasPasskeys, signInWithPasskey } from '../data/passkeys.ts';
import { askOpenly } from '../data/requests.ts';
import { assentCommand } from '../parts/assent-command.ts';
import { Button } from '../parts/button.tsx';
import { Failure } from '../parts/field.tsx';

export function WithPassword({ begin }: { begin(account: SignedIn): void }) {
  const [given, setGiven] = useState({ email: '', password: '' });
  // a password manager fills in both at once
  const set = (changed: Partial<typeof given>) => setGiven((before) => ({ ...before, ...changed }));
  const field = (name: keyof typeof given, label: string, kind: InputHTMLAttributes) => (
    <label>
      {label}
      <input
        {...kind}
        required
        value={given[name]}
        onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
      />
    </label>
  );
  const { isBusy, failure, attempt } = useAttempt();
  const signIn = async () => begin(await askOpenly('post /v1/sign-in/password', { body: given }).then(bodyOf));
  return (
    <>
      <form
        class="stack gap-14 full"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(signIn);
        }}
      >
        {field('email', 'E-mail', { type: 'email', autocomplete: 'username' })}
        {field('password', 'Password', { type: 'password', autocomplete: 'current-password' })}
        <Failure>{failure}</Failure>
        <Button text={isBusy ? 'Signing in …' : 'Sign in'} type="submit" kind="primary" />
      </form>
      {hasPasskeys() && <WithPasskey begin={begin} />}
      <details class="explain">
        <summary>No account, or the password forgotten?</summary>
        <p>
          Somebody who manages your organization can invite you. If you operate Assent yourself,{' '}
          <code>{assentCommand('setup')}</code> prints a link for the first account, and{' '}
          <code>{assentCommand('person reset EMAIL')}</code> one for a new password.
        </p>
      </details>
    </>
  );
}

function WithPasskey({ begin }: { begin(account: SignedIn): void }) {
  const { isBusy, failure, attempt } = useAttempt();
  return (
    <div class="stack gap-14 full">
      <Button
        text={isBusy ? 'Waiting for the passkey …' : 'Sign in with a passkey'}
        onClick={() => attempt(async () => begin(await signInWithPasskey()))}
      />
      <Failure>{failure}</Failure>
    </div>
  );
}
