/** How people sign in to this installation. */
import type { Provider, SignIn } from '#libs/tenants/contract';
import { base } from '../data/base.ts';
import { signInAddress } from '../data/router.ts';

/** milliseconds */
const timeout = 8_000;

/** Null if there is none. */
export async function readProvider(): Promise<Provider | null> {
  const response = await fetch(`${base}/v1/sign-in`, { signal: AbortSignal.timeout(timeout) });
  if (!response.ok) throw new Error(`the service responded with ${response.status}`);
  const { oidc }: SignIn = await response.json();
  return oidc;
}

/** Whether people sign in with a provider; the service writes this into the page. */
export const hasProvider = (): boolean => document.documentElement.dataset.signIn === 'provider';

/** Whether the provider has just redirected the browser here. */
export const comesFromProvider = (): boolean =>
  location.pathname === signInAddress && /[?&](code|error)=/.test(location.search);
