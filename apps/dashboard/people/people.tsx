/** People of the organization: their rights, invitations, and removal. */
import './people.css';
import { useState } from 'preact/hooks';
import type { Scope } from '#libs/base/terms/terms';
import { AssentError } from '#libs/client/assent-error';
import type { Person } from '#libs/people/contract';
import { peopleOf } from '../data/people-api.ts';
import { useLive, useReading } from '../data/query.ts';
import { rights } from '../data/rights.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { counted, dateAndTime } from '../format.ts';
import { AccountField, errorsByField } from '../parts/account-fields.tsx';
import { Button } from '../parts/button.tsx';
import { Check } from '../parts/check.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DraftForm } from '../parts/draft-form.tsx';
import { FieldNote } from '../parts/field.tsx';
import { FocusedTitle, useFocusAfter } from '../parts/focus.tsx';
import { isolated } from '../parts/isolated.tsx';
import { Snippet } from '../parts/snippet.tsx';
import { ThingsPage } from '../parts/things-page.tsx';

/** Not imported from the terms, which would load zod. */
const allScopes: Scope[] = ['read', 'privacy', 'import', 'manage', 'publish'];

/** milliseconds */
const askEvery = 5_000;

interface Link {
  email: string;
  inviteUrl: string;
}

type Action = 'change' | 'remove' | 'invite';
/** An action that waits for confirmation. */
type Asked = { action: Action; person: Person } | null;

export function People() {
  const { api } = useSignedIn();
  const [link, setLink] = useState<Link | null>(null);
  const [asked, setAsked] = useState<Asked>(null);
  const reading = useReading<Person[]>('people', (signal) => peopleOf(api).list(signal));
  useLive(reading.value ? 'people' : null, {
    ask: (signal) => peopleOf(api).list(signal),
    onAnswer: reading.put,
    interval: askEvery,
  });
  const toTitle = (is: boolean) => (is ? null : document.querySelector('h1'));
  useFocusAfter(asked !== null, toTitle);
  useFocusAfter(link !== null, toTitle);
  const refresh = async () => reading.put(await peopleOf(api).list());
  const onLink = async (made: Link) => {
    setLink(made);
    await refresh();
  };
  return (
    <ThingsPage
      page="people"
      title="People"
      note="Who has an account in this organization, and what each may do. Changes take effect within a second. Times are UTC."
      filters={link && <InviteLink {...link} onDone={() => setLink(null)} />}
      reading={reading}
      isEmpty={(people) => people.length === 0}
      none={{ title: 'Nobody has an account yet', text: 'You are signed in with an access token. Invite somebody.' }}
      beside={() => <Invite onLink={onLink} />}
    >
      {(people) => (
        <>
          <ul class="card rows" aria-label="People">
            {people.map((person) => (
              <Row key={person.personId} person={person} ask={(action) => setAsked({ action, person })} />
            ))}
          </ul>
          {asked && <Ask {...asked} refresh={refresh} onLink={onLink} onClose={() => setAsked(null)} />}
        </>
      )}
    </ThingsPage>
  );
}

const nameOf = ({ name, email }: Person): string => name ?? email;

function Row({ person, ask }: { person: Person; ask(action: Action): void }) {
  const { subject } = useSignedIn();
  const { personId, email, name, scopes, pending, lastSeenAt, createdAt, passkeys } = person;
  const seen = lastSeenAt === null ? `Invited ${dateAndTime(createdAt)}` : `Last seen ${dateAndTime(lastSeenAt)}`;
  const of = <span class="hidden"> {nameOf(person)}</span>;
  return (
    <li class="people-row">
      <div>
        <p class="strong">
          {isolated(nameOf(person))}
          {pending && <span class="tag">Invited</span>}
          {subject === `person:${personId}` && <span class="tag">You</span>}
        </p>
        <p class="hint">
          {name !== null && <>{isolated(email)} · </>}
          {seen}
          {passkeys > 0 && ` · ${counted(passkeys, 'passkey')}`}
        </p>
        <p class="hint">{scopes.map((scope) => rights[scope]).join(' · ')}</p>
      </div>
      <div class="actions tight">
        {pending && <Button onClick={() => ask('invite')}>New link…{of}</Button>}
        <Button onClick={() => ask('change')}>Change…{of}</Button>
        <Button kind="danger" onClick={() => ask('remove')}>
          Remove…{of}
        </Button>
      </div>
    </li>
  );
}

interface RightsProps {
  given: readonly Scope[];
  onChange(scopes: Scope[]): void;
}

/** Nobody can give a right that they lack, but they can take it away. `before`: the person's present rights. */
function Rights({ given, before = [], onChange }: RightsProps & { before?: readonly Scope[] }) {
  const { organization } = useSignedIn();
  const isLacked = (scope: Scope) => !organization.scopes.includes(scope) && !before.includes(scope);
  return (
    <fieldset class="stack gap-6 people-rights">
      <legend>May</legend>
      {allScopes.map((scope) => (
        <Check
          key={scope}
          checked={given.includes(scope)}
          disabled={isLacked(scope)}
          onChange={(isOn) => onChange(allScopes.filter((each) => (each === scope ? isOn : given.includes(each))))}
        >
          {rights[scope]}
        </Check>
      ))}
      {allScopes.some(isLacked) && <p class="hint">You can give only what you may do yourself.</p>}
    </fieldset>
  );
}

const nothing: { email: string; scopes: Scope[] } = { email: '', scopes: ['read'] };

function explainTaken(error: unknown): never {
  if (!(error instanceof AssentError) || error.code !== 'email_taken') throw error;
  const text = 'your organization has, or has invited, somebody with this address';
  throw new AssentError(error.code, `${text}. If they are invited, “New link…” makes another link`);
}

function Invite({ onLink }: { onLink(link: Link): Promise<void> }) {
  const { api } = useSignedIn();
  const [made, setMade] = useState(0);
  return (
    <section class="card stack gap-16" aria-labelledby="invite-title">
      <h2 id="invite-title">Invite somebody</h2>
      <DraftForm
        key={made}
        given={nothing}
        clean={({ email, scopes }) => ({ email: email.trim(), scopes })}
        wrongIn={({ scopes }) => (scopes.length === 0 ? { scopes: 'Choose at least one.' } : {})}
        errorsOf={errorsByField}
        action="Create a link"
        save={async (draft) => {
          await onLink(await peopleOf(api).invite(draft).catch(explainTaken));
          setMade(made + 1);
        }}
      >
        {(drafted) => (
          <>
            <AccountField name="email" drafted={drafted} label="E-mail" type="email" />
            <Rights given={drafted.draft.scopes} onChange={(scopes) => drafted.set({ scopes })} />
            <FieldNote id="scopes-note" error={drafted.errors.scopes} />
          </>
        )}
      </DraftForm>
    </section>
  );
}

const InviteLink = ({ email, inviteUrl, onDone }: Link & { onDone(): void }) => (
  <section class="card message once" aria-labelledby="link-title">
    <FocusedTitle id="link-title" of={inviteUrl}>
      Copy the link now: it is not shown again
    </FocusedTitle>
    <p>
      The service sends no mail, so pass the link on to {isolated(email)}. It is valid once, for 7 days, and anybody who
      has it gets the account.
    </p>
    <Snippet name="Invitation" code={inviteUrl} />
    <Button text="Done" onClick={onDone} />
  </section>
);

interface AskProps extends NonNullable<Asked> {
  refresh(): Promise<void>;
  onLink(link: Link): Promise<void>;
  onClose(): void;
}

function Ask({ action, person, refresh, onLink, onClose }: AskProps) {
  const people = peopleOf(useSignedIn().api);
  const [scopes, setScopes] = useState(person.scopes);
  const { personId, pending } = person;
  const name = nameOf(person);
  if (action === 'change')
    return (
      <ConfirmDialog
        title={`What ${name} may do`}
        action="Save"
        act={() => people.change(personId, scopes).then(refresh)}
        onClose={onClose}
      >
        <Rights given={scopes} before={person.scopes} onChange={setScopes} />
      </ConfirmDialog>
    );
  if (action === 'invite')
    return (
      <ConfirmDialog
        title={`New link for ${name}?`}
        action="Create a link"
        act={() => people.inviteAgain(personId).then(onLink)}
        onClose={onClose}
      >
        <p>The link before stops working.</p>
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog
      title={pending ? `Withdraw the invitation of ${name}?` : `Remove ${name}?`}
      action={pending ? 'Withdraw' : 'Remove'}
      isDangerous
      act={() => people.remove(personId).then(refresh)}
      onClose={onClose}
    >
      <p>
        {pending
          ? 'The link stops working.'
          : 'Within a second they can no longer see or change anything of this organization. What they did stays in the activity.'}
      </p>
    </ConfirmDialog>
  );
}
