/** Sessions of accounts and of providers are renewed before their access token expires. */
import { useEffect } from 'preact/hooks';
import type { SignedIn } from '#libs/people/contract';
import { restoreAccount } from './account.ts';
import { providerTokens, storeProviderTokens } from './provider-session.ts';
import {
  expiryOf,
  isOpen,
  type OpenSession,
  type OrganizationChange,
  renewSession,
  type SignOutReason,
} from './session.ts';
import { readProvider } from './sign-in-methods.ts';

/** milliseconds before the token expires, at most this part of its remaining time; and the shortest pause between attempts */
const ahead = 60_000;
const partOfRest = 5;
const shortest = 2_000;

/** Notifies the browser's other tabs of a sign-out. */
export const signedOut = new BroadcastChannel('assent-signed-out');

let running: Promise<boolean> | undefined;

/** For a session that is not renewed. */
export interface SessionHandlers {
  end(reason: SignOutReason): void;
  /** The person has no rights in this organization any more, and continues in another. */
  replace(account: SignedIn, address?: string, change?: OrganizationChange): void;
}

/** False if it cannot be renewed, or not now. A refresh token works once, so concurrent callers share one attempt. */
export function renew(session: OpenSession, handlers: SessionHandlers): Promise<boolean> {
  running ??= renewOnce(session, handlers).finally(() => {
    running = undefined;
  });
  return running;
}

async function renewAccount(session: OpenSession, before: SignedIn, handlers: SessionHandlers): Promise<boolean> {
  const account = await restoreAccount(before.organizationId);
  if (!isOpen(session)) return false;
  if (!account) handlers.end('ended');
  else if (account.organizationId !== before.organizationId) {
    const left = before.organizations.find(({ organizationId }) => organizationId === before.organizationId);
    handlers.replace(account, undefined, left && { left: left.name });
  } else {
    session.account = account;
    renewSession(session, account.token);
    return true;
  }
  return false;
}

async function renewOnce(session: OpenSession, handlers: SessionHandlers): Promise<boolean> {
  if (session.account) return renewAccount(session, session.account, handlers);
  const stored = providerTokens();
  if (!stored?.refreshToken) return false;
  const [{ refresh }, provider] = await Promise.all([import('./provider.ts'), readProvider()]);
  const renewed = provider && (await refresh(provider, stored.refreshToken));
  // the session may have ended meanwhile, or another one begun
  if (!renewed || !isOpen(session)) return false;
  storeProviderTokens({
    refreshToken: renewed.refreshToken ?? stored.refreshToken,
    idToken: renewed.idToken ?? stored.idToken,
  });
  renewSession(session, renewed.token);
  return true;
}

export function useRenewal(session: OpenSession, handlers: SessionHandlers): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const plan = () => {
      const left = expiryOf(session.token) - Date.now();
      // an expired token is noticed when the service refuses it
      if (isOver || !(left > 0) || !(session.account || providerTokens()?.refreshToken)) return;
      timer = setTimeout(attempt, Math.max(shortest, left - Math.min(ahead, left / partOfRest)));
    };
    const attempt = () => {
      // a provider that cannot be reached may be back before the token expires
      renew(session, handlers).then(plan, plan);
    };
    plan();
    if (session.account) signedOut.onmessage = () => void renew(session, handlers).catch(() => {});
    return () => {
      isOver = true;
      signedOut.onmessage = null;
      clearTimeout(timer);
    };
  }, [session]);
}
