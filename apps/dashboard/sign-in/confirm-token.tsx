/**
 * Asks before a token from a link or the clipboard opens its session, on installations where people sign in themselves.
 * Otherwise somebody else's link could make them work in a session that is not theirs (login CSRF). Nothing is stored
 * before.
 */

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Organization } from '#libs/stats/contract';
import { createApi } from '../data/api.ts';
import { textOf } from '../data/api-error.ts';
import { useReading } from '../data/query.ts';
import { now } from '../data/service-clock.ts';
import { Button } from '../parts/button.tsx';
import { isolated } from '../parts/isolated.tsx';
import { refusalOf, subjectOf } from './session.ts';
import { messages, SignInFrame } from './sign-in.tsx';

interface Props {
  token: string;
  open(token: string): void;
  leave(): void;
}

export function ConfirmToken({ token, open, leave }: Props) {
  const [isRefused, setRefused] = useState(false);
  const api = useMemo(() => {
    const refused = async () => {
      setRefused(true);
      return false;
    };
    return createApi({ token }, refused);
  }, [token]);
  const {
    value: organization,
    error,
    retry,
  } = useReading<Organization>('confirm-token', (signal) => api.organization(signal));
  useEffect(() => {
    document.title = 'Sign in · Assent';
  }, []);
  const trouble = isRefused ? messages[refusalOf(token, now())] : error && textOf(error);
  return (
    <SignInFrame isBusy={!organization && !trouble}>
      {trouble && (
        <p class="notice notice-bad" role="alert">
          {trouble}
        </p>
      )}
      {!organization && !trouble && <p role="status">Checking the access token …</p>}
      {organization && <Question name={organization.name} subject={subjectOf(token)} />}
      <div class="actions">
        <Button text="Cancel" onClick={leave} />
        {error && <Button text="Try again" kind="primary" onClick={retry} />}
        {organization && (
          <Button kind="primary" onClick={() => open(token)}>
            <span>Open {isolated(organization.name)}</span>
          </Button>
        )}
      </div>
    </SignInFrame>
  );
}

const Question = ({ name, subject }: { name: string; subject: string }) => (
  <>
    <h1>Open {isolated(name)}?</h1>
    <p>
      A link or an access token, not your own sign-in, opens the dashboard of {isolated(name)} as{' '}
      <strong>{isolated(subject)}</strong>.
    </p>
    <p class="muted">What you enter there belongs to that organization. If you did not expect this, cancel.</p>
  </>
);
