/** The form for an access token, with a line on why the last session ended. */
import './sign-in.css';
import { useEffect, useState } from 'preact/hooks';
import type { SignOutReason } from '../../data/session.ts';
import { assentCommand } from '../../parts/assent-command.ts';
import { Logo } from '../../parts/logo.tsx';

const messages: Record<SignOutReason, string> = {
  none: '',
  expired: 'Your access token has expired. Sign in with a new one to continue where you were.',
  refused: 'The service does not accept this access token. Check that it is complete, or ask for a new one.',
  'signed-out': 'You are signed out.',
};

export function SignIn({ reason, signIn }: { reason: SignOutReason; signIn(token: string): void }) {
  const [token, setToken] = useState('');
  const message = messages[reason];
  useEffect(() => {
    document.title = 'Sign in · Assent';
  }, []);
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <Logo />
        <h1>Sign in to Assent</h1>
        <p class="muted">See how visitors decide, as it happens, and look up any consent record.</p>
        {message && (
          <p class={reason === 'signed-out' ? 'notice' : 'notice notice-bad'} role="alert">
            {message}
          </p>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const bare = token.trim().replace(/^bearer\s+/i, '');
            if (bare) signIn(bare);
          }}
        >
          <label>
            Access token
            <input
              type="password"
              autoComplete="off"
              spellcheck={false}
              required
              value={token}
              onInput={(event) => setToken(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button primary">
            Sign in
          </button>
        </form>
        <details class="explain">
          <summary>Where do I get a token?</summary>
          <p>
            From the product that runs Assent for you, which can also open this page already signed in. If you operate
            Assent yourself, create one with <code>{assentCommand('token issue ORG')}</code>. The token is kept in this
            tab until you close it or sign out.
          </p>
        </details>
      </div>
    </main>
  );
}
