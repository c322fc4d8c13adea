/** Ends a session. */
import { askOpenly } from '../data/requests.ts';
import { providerTokens } from './provider-session.ts';
import type { OpenSession } from './session.ts';
import { type SessionHandlers, signedOut } from './session-renewal.ts';
import { readProvider } from './sign-in-methods.ts';

/** Also ends the provider's session, or the browser's cookie. `everywhere`: all sessions of the person. */
export async function signOut(
  { account }: OpenSession,
  end: SessionHandlers['end'],
  everywhere: boolean,
): Promise<void> {
  if (account) {
    const asked = askOpenly('post /v1/sign-out', { body: { everywhere } });
    return asked.then(
      () => {
        signedOut.postMessage(null);
        end('signed-out');
      },
      () => end('not-signed-out'),
    );
  }
  const stored = providerTokens();
  end('signed-out');
  if (!stored) return;
  await Promise.all([import('./provider.ts'), readProvider()])
    .then(([{ signOutAddress }, provider]) => provider && signOutAddress(provider, stored.idToken))
    .then((address) => address && location.assign(address))
    .catch(() => {});
}
