/**
 * The access token. One that was pasted, or passed in the fragment by the host product, is stored for the tab's session;
 * browsers do not send fragments, so no log contains it. An account's token is only in this page's memory.
 */

import type { SignedIn } from '#libs/people/contract';
import { withStorage } from '../data/storage.ts';
import { forgetProviderTokens } from './provider-session.ts';

const storageKey = 'assent-token';
/** the organization of the session; claims may name it differently */
const organizationKey = 'assent-organization';

export type SignOutReason = 'none' | 'expired' | 'refused' | 'ended' | 'signed-out' | 'not-signed-out';
/** Why an account's session is in another organization than before. */
export type OrganizationChange = { added: true } | { left: string };

export interface OpenSession {
  /** renewed in place */
  token: string;
  /** counts the sessions of this page */
  number: number;
  /** of a person with an account: as it was last renewed */
  account?: SignedIn;
  change?: OrganizationChange | undefined;
}
type Session = OpenSession | { token: null; reason: SignOutReason };

/** With the token from the address bar, or the tab's own. */
export function openSession(): Session {
  const given = takeTokenFromAddress();
  if (given !== null) return startSession(given);
  const token = storedToken();
  return token === null ? { token: null, reason: 'none' } : continueSession(token);
}

/** of the session that is open, or after the last one */
let current = 0;

/** Whether it has neither ended nor been replaced. */
export const isOpen = ({ number }: OpenSession): boolean => number === current;

/** With a token that was pasted or came by a link. The provider's refresh token belongs to another session. */
export function startSession(token: string): OpenSession {
  forgetProviderTokens();
  return continueSession(token);
}

/** With the provider's token, which its refresh token renews, or the token that this tab had. */
export function continueSession(token: string): OpenSession {
  withStorage((storage) => storage.setItem(storageKey, token));
  current += 1;
  return { token, number: current };
}

/** The session of a person in one organization. */
export function startAccount(account: SignedIn, change?: OrganizationChange): OpenSession {
  withStorage((storage) => storage.removeItem(storageKey));
  forgetProviderTokens();
  current += 1;
  return { token: account.token, number: current, account, change };
}

/** The organization of the tab's last session. */
export const lastOrganization = (): string | undefined =>
  withStorage((storage) => storage.getItem(organizationKey)) ?? undefined;

/** Stores the organization of the session. True if the tab's last session was in another one. */
export function replacesOther(organizationId: string): boolean {
  const before = lastOrganization();
  withStorage((storage) => storage.setItem(organizationKey, organizationId));
  return before !== undefined && before !== organizationId;
}

/** The same session continues with a new token. */
export function renewSession(session: OpenSession, token: string): void {
  session.token = token;
  if (!session.account) withStorage((storage) => storage.setItem(storageKey, token));
}

export function endSession(reason: SignOutReason): Session {
  current += 1;
  withStorage((storage) => {
    storage.removeItem(storageKey);
    storage.removeItem(organizationKey);
  });
  forgetProviderTokens();
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

/** Why the service refused the token, by the token's claims. */
export function refusalOf(token: string, time: number): SignOutReason {
  return expiryOf(token) <= time ? 'expired' : 'refused';
}

/** Who is signed in, by the name that administrative acts have. */
export const subjectOf = (token: string): string => String(claimOf(token, 'sub') ?? '');

/** Unix milliseconds; NaN if the token has none. */
export const expiryOf = (token: string): number => Number(claimOf(token, 'exp')) * 1000;

/** The signature is not checked: claims only choose texts and timers, and the service decides what a token opens. */
function claimOf(token: string, name: string): unknown {
  try {
    const bytes = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'));
    const text = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    const claims: unknown = JSON.parse(text);
    return typeof claims === 'object' && claims ? new Map(Object.entries(claims)).get(name) : undefined;
  } catch {
    // not a JWT
    return undefined;
  }
}
