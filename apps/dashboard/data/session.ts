/**
 * The access token, either pasted or passed in the fragment by the host product. A fragment is never sent to a server,
 * so no log holds it. The token is kept for the tab's session only.
 */
const storageKey = 'assent-token';

export type SignOutReason = 'none' | 'expired' | 'refused' | 'signed-out';
export interface OpenSession {
  token: string;
  /** a link replaced another organization's session in this tab, which the visitor should be told */
  hasReplacedOther: boolean;
}
export type Session = OpenSession | { token: null; reason: SignOutReason };

/** Takes the token from the address bar, else the tab's own. */
export function openSession(): Session {
  const token = takeTokenFromAddress() ?? storedToken();
  return token === null ? { token: null, reason: 'none' } : startSession(token);
}

export function startSession(token: string): OpenSession {
  const before = storedToken();
  withStorage((storage) => storage.setItem(storageKey, token));
  return { token, hasReplacedOther: before !== null && claimOf(before, 'org') !== claimOf(token, 'org') };
}

export function endSession(reason: SignOutReason): Session {
  withStorage((storage) => storage.removeItem(storageKey));
  return { token: null, reason };
}

/** Also removes it from the address bar. */
export function takeTokenFromAddress(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return token.trim() || null;
}

const storedToken = () => withStorage((storage) => storage.getItem(storageKey)) ?? null;

/** Why the service refused the token, as far as its claims tell. */
export function refusalOf(token: string, time: number): SignOutReason {
  return Number(claimOf(token, 'exp')) * 1000 <= time ? 'expired' : 'refused';
}

/** The signature is not checked: the claims only choose a message, and the service decides what a token opens. */
function claimOf(token: string, name: string): unknown {
  try {
    const claims: unknown = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')));
    return typeof claims === 'object' && claims ? new Map(Object.entries(claims)).get(name) : undefined;
  } catch {
    // not a JWT
    return undefined;
  }
}

/** Where the browser blocks storage, the session lasts until the page is left. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
