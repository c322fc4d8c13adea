/** Accepts an invitation, with a new account or an existing one, or sets a new password with the operator's link. */
import { useEffect, useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { Me, SignedIn } from '#libs/people/contract';
import { useAttempt } from '../data/attempt.ts';
import { bodyOf } from '../data/calls.ts';
import { useReading } from '../data/query.ts';
import { askOpenly, createRequests } from '../data/requests.ts';
import { homeAddress } from '../data/router.ts';
import { AccountField, emptyIn, errorsByField, NewPassword, trimmed } from '../parts/account-fields.tsx';
import { Button } from '../parts/button.tsx';
import { DraftForm } from '../parts/draft-form.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { restoreAccount } from './account.ts';
import type { OpenSession, OrganizationChange } from './session.ts';
import { signedOut } from './session-renewal.ts';
import { OtherAddress, SignInFrame } from './sign-in.tsx';
import { WithPassword } from './with-password.tsx';

interface Props {
  /** an account's, or a token's */
  session: OpenSession | null;
  begin(account: SignedIn, address?: string, change?: OrganizationChange): void;
}

const endpoint = 'post /v1/sign-in/invitation';

export function Invitation({ session, begin }: Props) {
  const [, kind, secret = ''] = /^#(invite|reset)=(.+)/.exec(location.hash) ?? [];
  const [hasAccount, setHasAccount] = useState(false);
  const title = kind === 'reset' ? 'Set a new password' : 'Accept the invitation';
  useEffect(() => {
    document.title = `${title} · Assent`;
  }, []);
  const join = async (given: { name?: string; password: string }) =>
    begin(await askOpenly(endpoint, { body: { invite: secret, ...given } }).then(bodyOf), homeAddress);
  const joinAsNew = (given: { name: string; password: string }) =>
    join(given).catch((error: unknown) => {
      if (!(error instanceof AssentError) || error.code !== 'email_taken') throw error;
      setHasAccount(true);
    });
  return (
    <SignInFrame>
      <h1>{title}</h1>
      <OtherAddress />
      {kind === undefined ? (
        <p>The link is not complete: open it as it was sent to you.</p>
      ) : kind === 'reset' ? (
        <DraftForm
          given={{ password: '' }}
          wrongIn={emptyIn}
          errorsOf={errorsByField}
          action="Set the password"
          save={join}
        >
          {(drafted) => (
            <>
              <NewPassword drafted={drafted} />
              <p class="hint">All your sessions end. Pages that are open elsewhere stop within five minutes.</p>
            </>
          )}
        </DraftForm>
      ) : session?.account ? (
        <AcceptAs session={session} invite={secret} begin={begin} />
      ) : hasAccount ? (
        <>
          <p role="status">You have an account already. Sign in to add the invitation to it.</p>
          <WithPassword begin={begin} />
        </>
      ) : (
        <>
          <DraftForm
            given={{ name: '', password: '' }}
            clean={trimmed}
            wrongIn={emptyIn}
            errorsOf={errorsByField}
            action="Create the account"
            save={joinAsNew}
          >
            {(drafted) => (
              <>
                <AccountField name="name" drafted={drafted} label="Your name" autocomplete="name" />
                <NewPassword drafted={drafted} />
              </>
            )}
          </DraftForm>
          <Button kind="quiet" text="I have an account already" onClick={() => setHasAccount(true)} />
        </>
      )}
    </SignInFrame>
  );
}

interface AcceptProps {
  session: OpenSession;
  invite: string;
  begin: Props['begin'];
}

/** Adds the organization to the account that is signed in. */
function AcceptAs({ session, invite, begin }: AcceptProps) {
  const { call } = createRequests(session, async () => {
    const account = await restoreAccount();
    if (account) session.token = account.token;
    return account !== null;
  });
  const { value: me } = useReading<Me>('me', (signal) => call('get /v1/people/me', { signal }).then(bodyOf));
  const { failure, attempt } = useAttempt();
  const accept = () =>
    call(endpoint, { body: { invite } }).then(({ body }) => begin(body, homeAddress, { added: true }));
  const leave = async () => {
    await askOpenly('post /v1/sign-out', { body: {} });
    signedOut.postMessage(null);
    location.reload();
  };
  return (
    <>
      <p>
        You are signed in as <strong>{me ? isolated(me.email) : '…'}</strong>. The organization that invites you is
        added to this account.
      </p>
      <Failure>{failure}</Failure>
      <div class="actions">
        <Button text="Accept" kind="primary" onClick={() => attempt(accept)} />
        <Button text="Use another account" kind="quiet" onClick={() => attempt(leave)} />
      </div>
      <a href={homeAddress}>Go to the dashboard without accepting</a>
    </>
  );
}
