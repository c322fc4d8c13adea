/** Ends a session. */
import { askOpenly } from '../data/requests.ts';
import { providerTokens } from './provider-session.ts';
import { type Otherwise, signedOut } from './renewal.ts';
import type { OpenSession } from './session.ts';
import { readProvider } from './sign-in-methods.ts';

/** At the provider, or with the browser's cookie, too. `everywhere`: all sessions of the person. */
export async function signOut({ account }: OpenSession, end: Otherwise['end'], everywhere: boolean): Promise<void> {
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
  const kept = providerTokens();
  end('signed-out');
  if (!kept) return;
  await Promise.all([import('./provider.ts'), readProvider()])
    .then(([{ signOutAddress }, provider]) => provider && signOutAddress(provider, kept.idToken))
    .then((address) => address && location.assign(address))
    .catch(() => {});
}
