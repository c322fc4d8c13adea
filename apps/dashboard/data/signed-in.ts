/** Whose session it is: what every page below the header reads and asks with. */

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
  /** takes over what another answer says of it */
  onOrganization(organization: Organization): void;
  /** whom the access token names, as acts do */
  subject: string;
  /** whose account it is; null where the session is of none */
  me: Reading<Me | null>;
  /** `everywhere`: ends all sessions of the person */
  signOut(everywhere: boolean): Promise<void>;
}

export const SignedInContext = createContext<SignedIn | null>(null);

/** Whether somebody with an account is signed in. No other issuer's tokens have such a `sub`. */
export const isPerson = ({ subject }: Pick<SignedIn, 'subject'>): boolean => subject.startsWith('person:');

/** Throws outside of a session. */
export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (!signedIn) throw new Error('nobody has signed in');
  return signedIn;
}
