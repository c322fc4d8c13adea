/** The first set-up: an organization, its first person and the first website. The banner's page comes next. */
import { useEffect } from 'preact/hooks';
import type { SignedIn } from '#libs/people/contract';
import { askOpenly } from '../data/requests.ts';
import { homeAddress, widgetAddress } from '../data/router.ts';
import { originFrom } from '../data/typed-origin.ts';
import { AccountField, emptyIn, errorsByField, NewPassword, trimmed } from '../parts/account-fields.tsx';
import { assentCommand } from '../parts/assent-command.ts';
import { DraftForm, type Errors } from '../parts/draft-form.tsx';
import { OtherAddress, SignInFrame } from './sign-in.tsx';

const empty = { organization: '', name: '', email: '', password: '', website: '' };

const wrongIn = (draft: typeof empty): Errors => ({
  ...(!originFrom(draft.website) && { website: 'Not an address of a website, such as https://www.example.com.' }),
  ...emptyIn(draft),
});

export function Setup({ begin }: { begin(account: SignedIn, address: string): void }) {
  const setup = /^#setup=(.+)/.exec(location.hash)?.[1];
  useEffect(() => {
    document.title = 'Set up · Assent';
  }, []);
  const save = async ({ website, ...given }: typeof empty) => {
    const origin = originFrom(website) ?? '';
    const domain = origin.replace(/^.*:\/\/(\*\.)?/, '');
    const body = { ...given, setup: setup ?? '', domain, origins: [origin] };
    const { body: made } = await askOpenly('post /v1/sign-in/setup', { body });
    begin(made, widgetAddress(made.domainId, { step: 3 }));
  };
  return (
    <SignInFrame>
      <h1>Set up Assent</h1>
      <OtherAddress />
      {setup === undefined ? (
        <p>
          This page needs the link that <code>{assentCommand('setup')}</code> prints. If you have an account already,{' '}
          <a href={homeAddress}>sign in</a>.
        </p>
      ) : (
        <DraftForm
          given={empty}
          clean={trimmed}
          wrongIn={wrongIn}
          errorsOf={(errors) => {
            const { domain, origins, ...others } = errorsByField(errors);
            return { ...others, ...((domain ?? origins) && { website: domain ?? origins }) };
          }}
          action="Create and go on to the banner"
          save={save}
        >
          {(drafted) => (
            <>
              <h2>1. Your organization and you</h2>
              <AccountField name="organization" drafted={drafted} label="Organization" autocomplete="organization" />
              <AccountField name="name" drafted={drafted} label="Your name" autocomplete="name" />
              <AccountField name="email" drafted={drafted} label="E-mail" type="email" autocomplete="username" />
              <NewPassword drafted={drafted} />
              <h2>2. Your first website</h2>
              <AccountField
                name="website"
                drafted={drafted}
                label="Its address"
                type="text"
                inputmode="url"
                autocomplete="url"
                placeholder="https://www.example.com"
                note="Only pages of this address may record. You can add others later."
              />
            </>
          )}
        </DraftForm>
      )}
    </SignInFrame>
  );
}
