/**
 * The access token: pasted, or handed over by the host product in the fragment, which no server and no log sees. It is
 * kept for the tab's session alone.
 */
const place = 'assent-token';

export type Ending = 'none' | 'expired' | 'refused' | 'signed-out';
export interface OpenSession {
  token: string;
  /** a link took the place of another organization's session in this tab, which one should be told */
  isByLink: boolean;
}
export type Session = OpenSession | { token: null; ending: Ending };

/** Takes a token out of the address bar, else the one that this tab has. */
export function openSession(): Session {
  const token = handedOver() ?? kept();
  return token === null ? { token: null, ending: 'none' } : startSession(token);
}

export function startSession(token: string): OpenSession {
  const before = kept();
  withStorage((storage) => storage.setItem(place, token));
  return { token, isByLink: before !== null && claimOf(before, 'org') !== claimOf(token, 'org') };
}

export function endSession(ending: Ending): Session {
  withStorage((storage) => storage.removeItem(place));
  return { token: null, ending };
}

export function handedOver(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return token.trim() || null;
}

const kept = () => withStorage((storage) => storage.getItem(place)) ?? null;

/** Why the service refused it, as far as the token itself tells. */
export function endingOf(token: string, time: number): Ending {
  return Number(claimOf(token, 'exp')) * 1000 <= time ? 'expired' : 'refused';
}

/** Only to tell what happened: whether it is true is the service's to say. */
function claimOf(token: string, name: string): unknown {
  try {
    const claims: unknown = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')));
    return typeof claims === 'object' && claims ? new Map(Object.entries(claims)).get(name) : undefined;
  } catch {
    // no token at all
    return undefined;
  }
}

/** A browser may keep pages from storing anything: then the session lasts until the page is left. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
