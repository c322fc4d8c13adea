/** The way to the provider, or the form for an access token, with a line on why the last session ended. */
import './sign-in.css';
import { useEffect, useState } from 'preact/hooks';
import type { Provider } from '#libs/contract/sign-in';
import type { SignOutReason } from '../../data/session.ts';
import { readProvider } from '../../data/sign-in.ts';
import { assentCommand } from '../../parts/assent-command.ts';
import { Logo } from '../../parts/logo.tsx';

export const messages: Record<SignOutReason, string> = {
  none: '',
  expired: 'Your access token has expired. Sign in with a new one to continue where you were.',
  refused: 'The service does not accept this access token. Check that it is complete, or ask for a new one.',
  'signed-out': 'You are signed out.',
};

interface Props {
  reason: SignOutReason;
  /** why the provider did not let somebody in */
  failure: string;
  signIn(token: string): void;
}

export function SignIn({ reason, failure, signIn }: Props) {
  // undefined until the service has said
  const [provider, setProvider] = useState<Provider | null>();
  const message = failure || messages[reason];
  useEffect(() => {
    document.title = 'Sign in · Assent';
    // without an answer access tokens are left
    readProvider().then(setProvider, () => setProvider(null));
  }, []);
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <Logo />
        <h1>Sign in to Assent</h1>
        <p class="muted">See how visitors decide, as it happens, and look up any consent record.</p>
        {message && (
          <p class={reason === 'signed-out' && !failure ? 'notice' : 'notice notice-bad'} role="alert">
            {message}
          </p>
        )}
        {provider && <WithProvider provider={provider} />}
        {provider === null && <WithToken signIn={signIn} />}
        {provider && (
          <details class="explain">
            <summary>Use an access token</summary>
            <WithToken signIn={signIn} />
          </details>
        )}
      </div>
    </main>
  );
}

function WithProvider({ provider }: { provider: Provider }) {
  const [state, setState] = useState<'ready' | 'leaving' | { failure: string }>('ready');
  const leave = () => {
    setState('leaving');
    import('../../provider/provider.ts')
      .then(({ goToProvider }) =>
        goToProvider(provider, location.pathname + location.search + settingsIn(location.hash)),
      )
      .catch((error: unknown) => setState({ failure: error instanceof Error ? error.message : String(error) }));
  };
  return (
    <>
      <button type="button" class="button primary" disabled={state === 'leaving'} onClick={leave}>
        Sign in
      </button>
      <p class="muted">
        at <bdi>{new URL(provider.issuer).host}</bdi>
      </p>
      {typeof state === 'object' && (
        <p class="notice notice-bad" role="alert">
          {state.failure}
        </p>
      )}
    </>
  );
}

function WithToken({ signIn }: Pick<Props, 'signIn'>) {
  const [token, setToken] = useState('');
  return (
    <>
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
    </>
  );
}

/** A link to a banner's settings has them in its fragment. Any other is not to be kept. */
const settingsIn = (hash: string): string => (hash.startsWith('#banner=') ? hash : '');
