/** The ways to sign in, the best one first, and why the last session ended. */
import './sign-in.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SignedIn } from '#libs/people/contract';
import type { Provider } from '#libs/tenants/contract';
import { accountsAddress } from '../data/base.ts';
import { signInAddress } from '../data/router.ts';
import { assentCommand } from '../parts/assent-command.ts';
import { Button } from '../parts/button.tsx';
import { Logo } from '../parts/logo.tsx';
import { addressForAccounts, hasAccountsHere } from './account.ts';
import type { SignOutReason } from './session.ts';
import { readProvider } from './sign-in-methods.ts';
import { WithPassword } from './with-password.tsx';

export const messages: Record<SignOutReason, string> = {
  none: '',
  expired: 'Your access token has expired. Sign in with a new one to continue where you were.',
  refused: 'The service does not accept this access token. Check that it is complete, or ask for a new one.',
  ended: 'Your session has ended, or your access was removed. Sign in to continue where you were.',
  'signed-out': 'You are signed out.',
  'not-signed-out':
    'The service did not answer, so this browser is still signed in. Reload the page and sign out again.',
};

interface Props {
  reason: SignOutReason;
  /** why the sign-in at the provider failed */
  failure: string;
  signIn(token: string): void;
  begin(account: SignedIn): void;
}

export function SignIn({ reason, failure, signIn, begin }: Props) {
  // undefined until it is known
  const [provider, setProvider] = useState<Provider | null>();
  const message = failure || messages[reason];
  useEffect(() => {
    document.title = 'Sign in · Assent';
    // access tokens work without a provider
    readProvider().then(setProvider, () => setProvider(null));
  }, []);
  return (
    <SignInFrame>
      <h1>Sign in to Assent</h1>
      <p class="muted">See how visitors decide, as it happens, and look up any consent record.</p>
      {message && (
        <p class={reason === 'signed-out' && !failure ? 'notice' : 'notice notice-bad'} role="alert">
          {message}
        </p>
      )}
      {provider && <WithProvider provider={provider} />}
      {provider !== undefined &&
        hasAccountsHere() &&
        (provider ? (
          <details class="explain">
            <summary>Sign in with a password</summary>
            <WithPassword begin={begin} />
          </details>
        ) : (
          <WithPassword begin={begin} />
        ))}
      <OtherAddress />
      {provider === null && !hasAccountsHere() && <WithToken signIn={signIn} />}
      {(provider || (provider === null && hasAccountsHere())) && (
        <details class="explain">
          <summary>Use an access token</summary>
          <WithToken signIn={signIn} />
        </details>
      )}
    </SignInFrame>
  );
}

export const SignInFrame = ({ isBusy, children }: { isBusy?: boolean; children: ComponentChildren }) => (
  <main class="sign-in">
    <div class="card stack anywhere sign-in-card" aria-busy={isBusy}>
      <Logo />
      {children}
    </div>
  </main>
);

/** Shown if accounts have another address than this page. */
export function OtherAddress() {
  const address = addressForAccounts();
  return (
    address && (
      <p class="notice">
        To sign in with an account, open <a href={address}>{accountsAddress}</a>.
      </p>
    )
  );
}

function WithProvider({ provider }: { provider: Provider }) {
  const [state, setState] = useState<'ready' | 'leaving' | { failure: string }>('ready');
  const leave = () => {
    setState('leaving');
    import('./provider.ts')
      .then(({ goToProvider }) =>
        goToProvider(provider, location.pathname + location.search + settingsIn(location.hash)),
      )
      .catch((error: unknown) => setState({ failure: error instanceof Error ? error.message : String(error) }));
  };
  return (
    <>
      <Button text="Sign in" kind="primary" disabled={state === 'leaving'} onClick={leave} />
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
        class="stack gap-14 full"
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
        <Button text="Sign in" type="submit" kind="primary" />
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

/** Keeps the fragment of a link to a banner's settings, and drops any other: it may hold a secret. */
const settingsIn = (hash: string): string => (hash.startsWith('#banner=') ? hash : '');

interface ReturningProps {
  done(session: { token: string; returnTo: string }): void;
  failed(reason: string): void;
}

/** The page that the provider redirects to: completes the sign-in. */
export function Returning({ done, failed }: ReturningProps) {
  useEffect(() => {
    const address = new URL(location.href);
    // the code in the address works once, so it does not belong into the history
    history.replaceState(null, '', signInAddress);
    complete(address).then(done, (error: unknown) => failed(error instanceof Error ? error.message : String(error)));
  }, []);
  return (
    <SignInFrame isBusy>
      <p role="status">Signing in …</p>
    </SignInFrame>
  );
}

async function complete(address: URL): Promise<{ token: string; returnTo: string }> {
  const [{ completeSignIn }, provider] = await Promise.all([import('./provider.ts'), readProvider()]).catch(() => {
    throw new Error('The service cannot be reached. Sign in again in a moment.');
  });
  if (!provider) throw new Error('This service has no identity provider.');
  return completeSignIn(provider, address);
}
