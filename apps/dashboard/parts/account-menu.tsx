/** The menu of a person with an account: their organizations, the account's page, and sign-out. */
import type { Me, SignedIn } from '#libs/people/contract';
import './account-menu.css';
import { useAttempt } from '../data/attempt.ts';
import { accountAddress } from '../data/router.ts';
import { Button } from './button.tsx';
import { Failure } from './field.tsx';
import { isolated } from './isolated.tsx';

interface Props {
  account: SignedIn;
  me: Me | null | undefined;
  /** refreshes the list of organizations */
  onOpen(): void;
  /** Replaces this session, or ends it if the browser's sign-in is gone. */
  switchTo(organizationId: string): Promise<void>;
  signOut(): void;
}

export function AccountMenu({ account, me, onOpen, switchTo, signOut }: Props) {
  const { organizationId: current, organizations } = account;
  const { failure, attempt } = useAttempt();
  return (
    <>
      <button type="button" class="button quiet account-button" popovertarget="account-menu">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 20c1-5 4-6 8-6s7 1 8 6M12 4a4 4 0 1 0 0 7a4 4 0 1 0 0-7" />
        </svg>
        <span class="hidden-on-phone clipped">{me ? isolated(me.name) : 'Account'}</span>
      </button>
      <div
        id="account-menu"
        popover="auto"
        class="account-menu stack gap-8"
        onToggle={(event) => event.newState === 'open' && onOpen()}
      >
        {me && <p class="hint anywhere">{isolated(me.email)}</p>}
        {organizations.length > 1 && (
          <ul aria-label="Organizations">
            {organizations.map(({ organizationId, name }) => (
              <li key={organizationId}>
                <Button
                  kind="quiet"
                  aria-current={organizationId === current}
                  onClick={() => organizationId !== current && attempt(() => switchTo(organizationId))}
                >
                  <span class="anywhere">{isolated(name)}</span>
                </Button>
              </li>
            ))}
          </ul>
        )}
        <Failure>{failure}</Failure>
        <a
          class="button quiet"
          href={accountAddress}
          onClick={({ currentTarget }) => currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()}
        >
          My account
        </a>
        <Button kind="quiet" text="Sign out" onClick={signOut} />
      </div>
    </>
  );
}
