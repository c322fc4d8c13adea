/** A session that began at a provider is renewed before its access token expires. */
import { useEffect } from 'preact/hooks';
import { keepProviderTokens, providerTokens } from './provider-session.ts';
import { expiryOf, isOpen, type OpenSession, renewSession } from './session.ts';
import { readProvider } from './sign-in-methods.ts';

/** Milliseconds before the end, and at most this part of what is left; and the shortest pause between two tries. */
const ahead = 60_000;
const partOfRest = 5;
const shortest = 2_000;

let running: Promise<boolean> | undefined;

/** False where it cannot be renewed, or not now. A refresh token is good for once, so all who ask share one try. */
export function renew(session: OpenSession): Promise<boolean> {
  running ??= renewOnce(session).finally(() => {
    running = undefined;
  });
  return running;
}

async function renewOnce(session: OpenSession): Promise<boolean> {
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

export function useRenewal(session: OpenSession): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const plan = () => {
      const left = expiryOf(session.token) - Date.now();
      // past its end the service's next refusal says so
      if (isOver || !(left > 0) || !providerTokens()?.refreshToken) return;
      timer = setTimeout(tryOnce, Math.max(shortest, left - Math.min(ahead, left / partOfRest)));
    };
    const tryOnce = () => {
      // a provider that is away may be back before the end
      renew(session).then(plan, plan);
    };
    plan();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [session]);
}
