/** Sessions of people with an account. The browser's cookie opens them, and scripts cannot read it. */

import { AssentError } from '#libs/client/assent-error';
import type { SignedIn } from '#libs/people/contract';
import { accountsAddress, base, hasAccounts } from '../data/base.ts';
import { bodyOf } from '../data/calls.ts';
import { askOpenly } from '../data/requests.ts';

/** This page at the address of accounts; undefined if it is there already, or there are no accounts. */
export function addressForAccounts(): string | undefined {
  if (accountsAddress === undefined || new URL(accountsAddress).origin === location.origin) return undefined;
  return accountsAddress + location.pathname.slice(base.length) + location.hash;
}

/** Whether this page can open a session with the cookie. */
export const hasAccountsHere = (): boolean => hasAccounts && addressForAccounts() === undefined;

/**
 * The browser's session: in this organization if the person still belongs to it, otherwise in the one used last. Null if
 * there is none.
 */
export async function restoreAccount(organizationId?: string, signal?: AbortSignal): Promise<SignedIn | null> {
  try {
    const body = organizationId === undefined ? {} : { organizationId };
    return await askOpenly('post /v1/sign-in/renew', { body, signal }).then(bodyOf);
  } catch (error) {
    if (!(error instanceof AssentError)) throw error;
    if (error.status === 401) return null;
    if (error.status === 400 && organizationId !== undefined) return restoreAccount(undefined, signal);
    throw error;
  }
}
