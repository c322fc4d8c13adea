/**
 * The access token. Pasted, or passed in the fragment by the host product, it is kept for the tab's session only; a
 * fragment is never sent to a server, so no log holds it. That of an account is in this page's memory alone.
 */

import type { SignedIn } from '#libs/people/contract';
import { withStorage } from '../data/storage.ts';
import { forgetProviderTokens } from './provider-session.ts';

const storageKey = 'assent-token';
/** whose session it is: claims may name it in other ways */
const organizationKey = 'assent-organization';

export type SignOutReason = 'none' | 'expired' | 'refused' | 'ended' | 'signed-out' | 'not-signed-out';
/** Why an account's session is in another organization than before. */
export type Moved = { added: true } | { left: string };

export interface OpenSession {
  /** renewed in place */
  token: string;
  /** of the sessions of this page */
  number: number;
  /** of a person with an account: as it was last renewed */
  account?: SignedIn;
  moved?: Moved | undefined;
}
type Session = OpenSession | { token: null; reason: SignOutReason };

/** Takes the token from the address bar, else the tab's own. */
export function openSession(): Session {
  const given = takeTokenFromAddress();
  if (given !== null) return startSession(given);
  const token = storedToken();
  return token === null ? { token: null, reason: 'none' } : goOnWith(token);
}

/** of the session that is open, or after the last one */
let current = 0;

/** Neither ended nor replaced since. */
export const isOpen = ({ number }: OpenSession): boolean => number === current;

/** With a token that was pasted or came by a link: nobody else's refresh token may renew it. */
export function startSession(token: string): OpenSession {
  forgetProviderTokens();
  return goOnWith(token);
}

/** With the provider's own token, whose refresh token renews it, or the one that this tab had. */
export function goOnWith(token: string): OpenSession {
  withStorage((storage) => storage.setItem(storageKey, token));
  current += 1;
  return { token, number: current };
}

/** Of a person, in one organization. */
export function startAccount(account: SignedIn, moved?: Moved): OpenSession {
  withStorage((storage) => storage.removeItem(storageKey));
  forgetProviderTokens();
  current += 1;
  return { token: account.token, number: current, account, moved };
}

/** Whose session this tab had last. */
export const lastOrganization = (): string | undefined =>
  withStorage((storage) => storage.getItem(organizationKey)) ?? undefined;

/** Notes whose session it is, and answers whether it has replaced another organization's in this tab. */
export function replacesOther(organizationId: string): boolean {
  const before = lastOrganization();
  withStorage((storage) => storage.setItem(organizationKey, organizationId));
  return before !== undefined && before !== organizationId;
}

/** The same session goes on with a new token. */
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

/** Why the service refused the token, as far as its claims tell. */
export function refusalOf(token: string, time: number): SignOutReason {
  return expiryOf(token) <= time ? 'expired' : 'refused';
}

/** Who has the session, by the name that the activity and the acts have. */
export const subjectOf = (token: string): string => String(claimOf(token, 'sub') ?? '');

/** Unix milliseconds; NaN where the token does not say. */
export const expiryOf = (token: string): number => Number(claimOf(token, 'exp')) * 1000;

/** The signature is not checked: the claims only choose words, and the service decides what a token opens. */
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
