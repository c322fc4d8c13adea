/** How people sign in here. */
import type { Provider, SignIn } from '#libs/tenants/contract';
import { base } from '../data/base.ts';
import { signInAddress } from '../data/router.ts';

/** Milliseconds */
const timeout = 8_000;

/** The provider; null where there is none. */
export async function readProvider(): Promise<Provider | null> {
  const response = await fetch(`${base}/v1/sign-in`, { signal: AbortSignal.timeout(timeout) });
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  const { oidc }: SignIn = await response.json();
  return oidc;
}

/** Whether people sign in with a provider, which the service says in the page itself. */
export const hasProvider = (): boolean => document.documentElement.dataset.signIn === 'provider';

/** Whether the provider has just sent the browser here. */
export const comesFromProvider = (): boolean =>
  location.pathname === signInAddress && /[?&](code|error)=/.test(location.search);
