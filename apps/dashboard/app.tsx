/** The dashboard: sign-in first, then the page that the address names. */

import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useMemo, useState } from 'preact/hooks';
import type { PageName } from '#libs/base/terms/dashboard-pages';
import type { SignedIn as Account, Me } from '#libs/people/contract';
import type { Organization } from '#libs/stats/contract';
import { Crash } from './crash.tsx';
import { createApi } from './data/api.ts';
import { hasAccounts } from './data/base.ts';
import { bodyOf } from './data/calls.ts';
import { useLive, useReading } from './data/query.ts';
import { homeAddress, invitationAddress, type Route, type RouteTo, setupAddress, useRoute } from './data/router.ts';
import { maySee } from './data/scopes.ts';
import { now } from './data/service-clock.ts';
import { SignedInContext, useSignedIn } from './data/signed-in.ts';
import { Domain } from './domain/domain.tsx';
import { Home } from './home/home.tsx';
import { AccountMenu } from './parts/account-menu.tsx';
import { Button, ButtonLink } from './parts/button.tsx';
import { Header, SignOut } from './parts/header.tsx';
import { lazy } from './parts/lazy.tsx';
import { LoadingOrError } from './parts/loading-or-error.tsx';
import { hasAccountsHere, restoreAccount } from './sign-in/account.ts';
import { OrganizationNotice } from './sign-in/organization-notice.tsx';
import { RestoreSession } from './sign-in/restore-session.tsx';
import {
  continueSession,
  endSession,
  isOpen,
  type OpenSession,
  type OrganizationChange,
  openSession,
  refusalOf,
  replacesOther,
  type SignOutReason,
  startAccount,
  startSession,
  subjectOf,
  takeTokenFromAddress,
} from './sign-in/session.ts';
import { renew, type SessionHandlers, useRenewal } from './sign-in/session-renewal.ts';
import { comesFromProvider, hasProvider } from './sign-in/sign-in-methods.ts';
import { signOut } from './sign-in/sign-out.ts';

const ConfirmToken = lazy(() => import('./sign-in/confirm-token.tsx'))((page) => page.ConfirmToken);
const Refused = lazy(() => import('./refused.tsx'))((page) => page.Refused, 'table');
const signingIn = lazy(() => import('./sign-in/sign-in.tsx'));
const SignIn = signingIn((pages) => pages.SignIn, null);
const Returning = signingIn((pages) => pages.Returning, null);
const Setup = lazy(() => import('./sign-in/setup.tsx'))((page) => page.Setup, null);
const Invitation = lazy(() => import('./sign-in/invitation.tsx'))((page) => page.Invitation, null);
const settings = lazy(() => import('./settings/settings.tsx'));
const webhooks = lazy(() => import('./webhooks/webhooks.tsx'));
const erasures = lazy(() => import('./erasures/erasures.tsx'));

/** The component of each page. Only the two first pages are in the first bundle; the others are loaded on demand. */
const shown: { [Name in PageName]: ComponentType<RouteTo<Name>> } = {
  home: Home,
  domain: Domain,
  log: lazy(() => import('./log/log.tsx'))((page) => page.Log),
  notices: lazy(() => import('./notices/notices.tsx'))((page) => page.Notices),
  visitor: lazy(() => import('./visitor/visitor.tsx'))((page) => page.Visitor),
  groups: lazy(() => import('./groups/groups.tsx'))((page) => page.Groups),
  experiments: lazy(() => import('./experiments/experiments.tsx'))((page) => page.Experiments),
  widget: lazy(() => import('./widget-setup/widget-setup.tsx'))((page) => page.WidgetSetup),
  checks: lazy(() => import('./site-checks/site-checks.tsx'))((page) => page.SiteChecks),
  domains: settings((page) => page.AllDomains),
  'new-domain': settings((page) => page.NewDomain),
  people: lazy(() => import('./people/people.tsx'))((page) => page.People, 'table'),
  account: lazy(() => import('./people/account.tsx'))((page) => page.Account, 'table'),
  activity: settings((page) => page.Activity),
  settings: settings((page) => page.OneDomain),
  erasures: erasures((page) => page.AllErasures),
  erasure: erasures((page) => page.OneErasure),
  webhooks: webhooks((page) => page.AllWebhooks),
  webhook: webhooks((page) => page.NewOrOneWebhook),
};

/** With a sign-in of its own, the dashboard asks before it signs in with a token from the address. */
const asksFirst = () => hasProvider() || hasAccounts;

export function App() {
  // read before the session is opened, which would take the token from the address
  const [offered, setOffered] = useState(asksFirst() ? takeTokenFromAddress : null);
  const [session, setSession] = useState(openSession);
  const [isResuming, setResuming] = useState(session.token === null && hasAccountsHere());
  const [isReturning, setReturning] = useState(comesFromProvider);
  const [failure, setFailure] = useState('');
  const [crash] = useErrorBoundary();
  const begin = (start: (token: string) => OpenSession) => (token: string) => {
    setFailure('');
    setOffered(null);
    setResuming(false);
    setSession(start(token));
  };
  const beginWithOffered = begin(startSession);
  const beginAccount = (account: Account, address?: string, change?: OrganizationChange) => {
    if (address !== undefined) {
      history.replaceState(null, '', address);
      scrollTo(0, 0);
    }
    setFailure('');
    setResuming(false);
    setSession(startAccount(account, change));
  };
  const offer = asksFirst() ? setOffered : beginWithOffered;
  // a link with another token, opened in a tab that already shows the dashboard
  useEffect(() => {
    const signInByLink = () => {
      const token = takeTokenFromAddress();
      if (token !== null) offer(token);
    };
    addEventListener('hashchange', signInByLink);
    return () => removeEventListener('hashchange', signInByLink);
  }, []);
  if (crash !== undefined) return <Crash />;
  const back = (address: string) => {
    history.replaceState(null, '', address);
    setReturning(false);
  };
  if (isReturning) {
    return (
      <Returning
        done={({ token, returnTo }) => {
          back(returnTo);
          begin(continueSession)(token);
        }}
        failed={(why) => {
          back(homeAddress);
          setFailure(why);
        }}
      />
    );
  }
  if (offered !== null)
    return <ConfirmToken key={offered} token={offered} open={beginWithOffered} leave={() => setOffered(null)} />;
  if (isResuming) return <RestoreSession done={(account) => (account ? beginAccount(account) : setResuming(false))} />;
  if (location.pathname === setupAddress) return <Setup begin={beginAccount} />;
  if (location.pathname === invitationAddress)
    return <Invitation session={session.token === null ? null : session} begin={beginAccount} />;
  if (session.token === null)
    return <SignIn reason={session.reason} failure={failure} signIn={offer} begin={beginAccount} />;
  const end = (reason: SignOutReason) => setSession(endSession(reason));
  return <SignedIn key={session.number} session={session} end={end} replace={beginAccount} />;
}

interface SignedInProps extends SessionHandlers {
  session: OpenSession;
}

function SignedIn({ session, end, replace }: SignedInProps) {
  const [hasReplacedOther, setReplacedOther] = useState(false);
  useRenewal(session, { end, replace });
  const api = useMemo(() => {
    const refused = async () => {
      const reason = refusalOf(session.token, now());
      // only an expired token can be renewed; an account's session may continue with another organization
      const mayGoOn = reason === 'expired' || session.account;
      if (mayGoOn && (await renew(session, { end, replace }).catch(() => false))) return true;
      // the session may have ended, or been replaced, in the meantime
      if (isOpen(session)) end(session.account ? 'ended' : reason);
      return false;
    };
    return createApi(session, refused);
  }, [session]);
  const reading = useReading<Organization>('organization', (signal) => api.organization(signal));
  const route = useRoute();
  const organization = reading.value;
  const organizationId = organization?.organizationId;
  useEffect(() => {
    if (organizationId) setReplacedOther(replacesOther(organizationId) || session.change !== undefined);
  }, [organizationId]);
  const { account } = session;
  const me = useReading<Me | null>('me', async (signal) =>
    account ? api.call('get /v1/people/me', { signal }).then(bodyOf) : null,
  );
  // when a person's rights change, the page follows within a second
  useLive(account ? 'rights' : null, {
    ask: (signal) => api.organization(signal),
    onAnswer: (fresh) => {
      if (organization && fresh.scopes.join() !== organization.scopes.join()) reading.put(fresh);
    },
  });
  const leave = (everywhere: boolean) => signOut(session, end, everywhere);
  const switchTo = async (other: string) => {
    const fresh = await restoreAccount(other);
    if (!fresh) return end('ended');
    // the person switched on purpose: no notice about another organization
    if (fresh.organizationId === other) replacesOther(other);
    replace(fresh, homeAddress);
  };
  // opening the menu renews the session, which lists organizations added in the meantime
  const [, setRenewals] = useState(0);
  const refresh = () =>
    void renew(session, { end, replace }).then(
      () => setRenewals((before) => before + 1),
      () => {},
    );
  const subject = subjectOf(session.token);
  const signedIn = useMemo(
    () => organization && { api, organization, onOrganization: reading.put, subject, me, signOut: leave },
    [api, organization, me.value],
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header organization={organization} subject={account ? (me.value?.email ?? '') : subject} route={route}>
        {account ? (
          <AccountMenu
            account={account}
            me={me.value}
            onOpen={refresh}
            switchTo={switchTo}
            signOut={() => leave(false)}
          />
        ) : (
          <SignOut onClick={() => leave(false)} />
        )}
      </Header>
      <main id="main" tabIndex={-1}>
        {hasReplacedOther && organization && (
          <p class="notice cluster spread by-link" role="status">
            <OrganizationNotice name={organization.name} change={session.change} />
            <Button text="OK" kind="quiet" onClick={() => setReplacedOther(false)} />
          </p>
        )}
        <LoadingOrError reading={reading} kind="page" />
        {signedIn && (
          <SignedInContext value={signedIn}>
            <Page route={route} />
          </SignedInContext>
        )}
      </main>
    </>
  );
}

function Page({ route }: { route: Route }) {
  const { organization } = useSignedIn();
  if (route.page === 'unknown')
    return (
      <section class="card message">
        <h1>Page not found</h1>
        <ButtonLink text="Go to the overview" kind="primary" href={homeAddress} />
      </section>
    );
  if (!maySee(route.page, organization)) return <Refused key={route.page} route={route} />;
  const Shown = shown[route.page] as ComponentType<Route>;
  // webhooks have no key: after creation the page still shows the new secret
  const key = 'domainId' in route ? route.domainId : 'erasureId' in route ? route.erasureId : undefined;
  return <Shown key={key} {...route} />;
}
