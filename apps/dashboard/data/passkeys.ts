/** Passkeys in this browser. The library is loaded on first use. */

import { AssentError } from '#libs/client/assent-error';
import type { Passkey, SignedIn } from '#libs/people/contract';
import type { Api } from './api.ts';
import { bodyOf } from './calls.ts';
import { askOpenly } from './requests.ts';

const own = '/v1/people/me/passkeys';
const library = () => import('@simplewebauthn/browser');

/** Browsers offer passkeys only over https and on localhost. */
export const hasPasskeys = (): boolean => globalThis.PublicKeyCredential !== undefined;

/** Throws an `AssentError` with a sentence if the browser has no passkey, or the person cancelled. */
export async function signInWithPasskey(): Promise<SignedIn> {
  const optionsJSON = await askOpenly('post /v1/sign-in/passkey/options', {}).then(bodyOf);
  const { startAuthentication } = await library();
  const credential = await startAuthentication({ optionsJSON }).catch(refuse);
  return askOpenly('post /v1/sign-in/passkey/verify', { body: { credential } }).then(bodyOf);
}

/** Throws likewise, and with the code `invalid_credentials` if the sign-in was too long ago. */
export async function addPasskey({ call: ask }: Pick<Api, 'call'>, name?: string): Promise<Passkey> {
  const optionsJSON = await ask(`post ${own}/options`, {}).then(bodyOf);
  const { startRegistration } = await library();
  const credential = await startRegistration({ optionsJSON }).catch(refuse);
  return ask(`post ${own}/verify`, { body: { name: name || undefined, credential } }).then(bodyOf);
}

const reasons: Record<string, string> = {
  InvalidStateError: 'this device has a passkey of yours for this service already',
  SecurityError: 'the browser allows no passkeys at this address',
};

/** The browser does not distinguish between cancelling, waiting too long, and having no passkey. */
function refuse(error: unknown): never {
  const name = error instanceof Error ? error.name : '';
  throw new AssentError(
    'no_passkey',
    reasons[name] ?? 'no passkey was used: it was cancelled, or this device has none',
  );
}
