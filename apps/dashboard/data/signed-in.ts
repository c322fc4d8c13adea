/** The session, as every page below the header uses it. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Me } from '#libs/people/contract';
import type { Organization } from '#libs/stats/contract';
import type { Api } from './api.ts';
import type { Reading } from './query.ts';

interface SignedIn {
  api: Api;
  /** as it was last read */
  organization: Organization;
  /** replaces the organization, for example after a change */
  onOrganization(organization: Organization): void;
  /** the access token's subject, as acts name it */
  subject: string;
  /** the signed-in person; null if the session has no account */
  me: Reading<Me | null>;
  /** `everywhere`: ends all sessions of the person */
  signOut(everywhere: boolean): Promise<void>;
}

export const SignedInContext = createContext<SignedIn | null>(null);

/** Whether a person with an account is signed in. Only their tokens have such a `sub`. */
export const isPerson = ({ subject }: Pick<SignedIn, 'subject'>): boolean => subject.startsWith('person:');

/** Throws outside of a session. */
export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (!signedIn) throw new Error('nobody has signed in');
  return signedIn;
}
