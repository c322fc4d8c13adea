/** Chooses what is shown: sign-in, or the page of the address once the service has accepted the token. */

import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useMemo, useState } from 'preact/hooks';
import type { PageName } from '#libs/base/terms/dashboard-pages';
import type { Organization } from '#libs/stats/contract';
import { Crash } from './crash.tsx';
import { createApi } from './data/api.ts';
import { useReading } from './data/query.ts';
import { homeAddress, type Route, type RouteTo, useRoute } from './data/router.ts';
import { maySee } from './data/scopes.ts';
import { now } from './data/service-clock.ts';
import { SignedInContext, useSignedIn } from './data/signed-in.ts';
import { Domain } from './domain/domain.tsx';
import { Home } from './home/home.tsx';
import { Button, ButtonLink } from './parts/button.tsx';
import { Header } from './parts/header.tsx';
import { isolated } from './parts/isolated.tsx';
import { later } from './parts/later.tsx';
import { Unanswered } from './parts/unanswered.tsx';
import { providerTokens } from './sign-in/provider-session.ts';
import { renew, useRenewal } from './sign-in/renewal.ts';
import {
  endSession,
  goOnWith,
  isOpen,
  type OpenSession,
  openSession,
  refusalOf,
  replacesOther,
  type SignOutReason,
  startSession,
  subjectOf,
  takeTokenFromAddress,
} from './sign-in/session.ts';
import { Returning, SignIn } from './sign-in/sign-in.tsx';
import { comesFromProvider, hasProvider, readProvider } from './sign-in/sign-in-methods.ts';

const Offered = later(() => import('./sign-in/offered.tsx'))((page) => page.Offered);
const Refused = later(() => import('./refused.tsx'))((page) => page.Refused, 'table');
const settings = later(() => import('./settings/settings.tsx'));
const webhooks = later(() => import('./webhooks/webhooks.tsx'));
const erasures = later(() => import('./erasures/erasures.tsx'));

/** What each page shows. Those that are not the first to be looked at are loaded when they are. */
const shown: { [Name in PageName]: ComponentType<RouteTo<Name>> } = {
  home: Home,
  domain: Domain,
  log: later(() => import('./log/log.tsx'))((page) => page.Log),
  notices: later(() => import('./notices/notices.tsx'))((page) => page.Notices),
  visitor: later(() => import('./visitor/visitor.tsx'))((page) => page.Visitor),
  groups: later(() => import('./groups/groups.tsx'))((page) => page.Groups),
  experiments: later(() => import('./experiments/experiments.tsx'))((page) => page.Experiments),
  widget: later(() => import('./widget-setup/widget-setup.tsx'))((page) => page.WidgetSetup),
  domains: settings((page) => page.AllDomains),
  'new-domain': settings((page) => page.NewDomain),
  activity: settings((page) => page.Activity),
  settings: settings((page) => page.OneDomain),
  erasures: erasures((page) => page.AllErasures),
  erasure: erasures((page) => page.OneErasure),
  webhooks: webhooks((page) => page.AllWebhooks),
  webhook: webhooks((page) => page.NewOrOneWebhook),
};

export function App() {
  // before the session, which would take it
  const [offered, setOffered] = useState(hasProvider() ? takeTokenFromAddress : null);
  const [session, setSession] = useState(openSession);
  const [isReturning, setReturning] = useState(comesFromProvider);
  const [failure, setFailure] = useState('');
  const [crash] = useErrorBoundary();
  const begin = (start: (token: string) => OpenSession) => (token: string) => {
    setFailure('');
    setOffered(null);
    setSession(start(token));
  };
  const beginWithOffered = begin(startSession);
  const offer = hasProvider() ? setOffered : beginWithOffered;
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
          begin(goOnWith)(token);
        }}
        failed={(why) => {
          back(homeAddress);
          setFailure(why);
        }}
      />
    );
  }
  if (offered !== null)
    return <Offered key={offered} token={offered} open={beginWithOffered} leave={() => setOffered(null)} />;
  if (session.token === null) return <SignIn reason={session.reason} failure={failure} signIn={offer} />;
  return <SignedIn key={session.number} session={session} end={(reason) => setSession(endSession(reason))} />;
}

interface SignedInProps {
  session: OpenSession;
  end(reason: SignOutReason): void;
}

/** At the provider, too. */
function signOut(end: () => void): void {
  const kept = providerTokens();
  end();
  if (!kept) return;
  Promise.all([import('./sign-in/provider.ts'), readProvider()])
    .then(([{ signOutAddress }, provider]) => provider && signOutAddress(provider, kept.idToken))
    .then((address) => address && location.assign(address))
    .catch(() => {});
}

function SignedIn({ session, end }: SignedInProps) {
  // which the visitor should be told
  const [hasReplacedOther, setReplacedOther] = useState(false);
  useRenewal(session);
  const api = useMemo(() => {
    const refused = async () => {
      const reason = refusalOf(session.token, now());
      // for any other reason another one would be refused, too
      if (reason === 'expired' && (await renew(session).catch(() => false))) return true;
      // unless it has ended meanwhile, or another one has begun
      if (isOpen(session)) end(reason);
      return false;
    };
    return createApi(session, refused);
  }, [session]);
  const reading = useReading<Organization>('organization', (signal) => api.organization(signal));
  const route = useRoute();
  const organization = reading.value;
  const organizationId = organization?.organizationId;
  useEffect(() => {
    if (organizationId) setReplacedOther(replacesOther(organizationId));
  }, [organizationId]);
  const signedIn = useMemo(
    () => organization && { api, organization, onOrganization: reading.put },
    [api, organization],
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header
        organization={organization}
        subject={subjectOf(session.token)}
        route={route}
        signOut={() => signOut(() => end('signed-out'))}
      />
      <main id="main" tabIndex={-1}>
        {hasReplacedOther && organization && (
          <p class="notice cluster spread by-link" role="status">
            <span>
              You are now signed in to {isolated(organization.name)}, and no longer to the previous organization.
            </span>
            <Button text="OK" kind="quiet" onClick={() => setReplacedOther(false)} />
          </p>
        )}
        <Unanswered reading={reading} kind="page" />
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
  // not of webhooks: one that was just made brings its secret along
  const key = 'domainId' in route ? route.domainId : 'erasureId' in route ? route.erasureId : undefined;
  return <Shown key={key} {...route} />;
}
