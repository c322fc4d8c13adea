/** Asks the service whether the browser has an account's session. */
import { useEffect } from 'preact/hooks';
import type { SignedIn } from '#libs/people/contract';
import { useReading } from '../data/query.ts';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { restoreAccount } from './account.ts';
import { lastOrganization } from './session.ts';

export function RestoreSession({ done }: { done(account: SignedIn | null): void }) {
  const reading = useReading<SignedIn | null>('session', (signal) => restoreAccount(lastOrganization(), signal));
  useEffect(() => {
    if (reading.value !== undefined) done(reading.value);
  }, [reading.value]);
  return (
    <main id="main">
      <LoadingOrError reading={reading} kind="page" />
    </main>
  );
}
