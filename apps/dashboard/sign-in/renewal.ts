/** A session of an account, or one that began at a provider, is renewed before its access token expires. */
import { useEffect } from 'preact/hooks';
import type { SignedIn } from '#libs/people/contract';
import { resume } from './account.ts';
import { keepProviderTokens, providerTokens } from './provider-session.ts';
import { expiryOf, isOpen, type Moved, type OpenSession, renewSession, type SignOutReason } from './session.ts';
import { readProvider } from './sign-in-methods.ts';

/** Milliseconds before the end, and at most this part of what is left; and the shortest pause between two tries. */
const ahead = 60_000;
const partOfRest = 5;
const shortest = 2_000;

/** Says to the other tabs of this browser that its session was signed out. */
export const signedOut = new BroadcastChannel('assent-signed-out');

let running: Promise<boolean> | undefined;

/** What becomes of the session of an account that does not go on. */
export interface Otherwise {
  end(reason: SignOutReason): void;
  /** by one in another organization, where the person has no rights left in the first */
  replace(account: SignedIn, address?: string, moved?: Moved): void;
}

/** False where it cannot be renewed, or not now. A refresh token is good for once, so all who ask share one try. */
export function renew(session: OpenSession, otherwise: Otherwise): Promise<boolean> {
  running ??= renewOnce(session, otherwise).finally(() => {
    running = undefined;
  });
  return running;
}

async function renewAccount(session: OpenSession, before: SignedIn, otherwise: Otherwise): Promise<boolean> {
  const account = await resume(before.organizationId);
  if (!isOpen(session)) return false;
  if (!account) otherwise.end('ended');
  else if (account.organizationId !== before.organizationId) {
    const left = before.organizations.find(({ organizationId }) => organizationId === before.organizationId);
    otherwise.replace(account, undefined, left && { left: left.name });
  } else {
    session.account = account;
    renewSession(session, account.token);
    return true;
  }
  return false;
}

async function renewOnce(session: OpenSession, otherwise: Otherwise): Promise<boolean> {
  if (session.account) return renewAccount(session, session.account, otherwise);
  const kept = providerTokens();
  if (!kept?.refreshToken) return false;
  const [{ refresh }, provider] = await Promise.all([import('./provider.ts'), readProvider()]);
  const renewed = provider && (await refresh(provider, kept.refreshToken));
  // it may have ended meanwhile, or somebody else's may have begun: what came is good for neither
  if (!renewed || !isOpen(session)) return false;
  keepProviderTokens({
    refreshToken: renewed.refreshToken ?? kept.refreshToken,
    idToken: renewed.idToken ?? kept.idToken,
  });
  renewSession(session, renewed.token);
  return true;
}

export function useRenewal(session: OpenSession, otherwise: Otherwise): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const plan = () => {
      const left = expiryOf(session.token) - Date.now();
      // past its end the service's next refusal says so
      if (isOver || !(left > 0) || !(session.account || providerTokens()?.refreshToken)) return;
      timer = setTimeout(tryOnce, Math.max(shortest, left - Math.min(ahead, left / partOfRest)));
    };
    const tryOnce = () => {
      // a provider that is away may be back before the end
      renew(session, otherwise).then(plan, plan);
    };
    plan();
    if (session.account) signedOut.onmessage = () => void renew(session, otherwise).catch(() => {});
    return () => {
      isOver = true;
      signedOut.onmessage = null;
      clearTimeout(timer);
    };
  }, [session]);
}
