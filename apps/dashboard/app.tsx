/** Chooses what is shown: sign-in, or the page of the address once the service has accepted the token. */
import { useEffect, useErrorBoundary, useMemo, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/responses';
import { Crash } from './crash.tsx';
import { createApi } from './data/api.ts';
import { useReading } from './data/reading.ts';
import { homeAddress, isOfSettings, useRoute } from './data/router.ts';
import { now } from './data/service-clock.ts';
import {
  endSession,
  type OpenSession,
  openSession,
  refusalOf,
  type SignOutReason,
  startSession,
  takeTokenFromAddress,
} from './data/session.ts';
import { escapeInvisible } from './format.ts';
import { Domain } from './pages/domain/domain.tsx';
import { Home } from './pages/home/home.tsx';
import { Log } from './pages/log/log.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';
import { ErrorCard } from './parts/error-card.tsx';
import { Header } from './parts/header.tsx';
import { later } from './parts/later.tsx';
import { Skeleton } from './parts/skeleton.tsx';

const Visitor = later(async () => (await import('./pages/visitor/visitor.tsx')).Visitor);
const Settings = later(async () => (await import('./pages/settings/settings.tsx')).Settings);
const Webhooks = later(async () => (await import('./pages/webhooks/webhooks.tsx')).Webhooks);

export function App() {
  const [session, setSession] = useState(openSession);
  const [crash] = useErrorBoundary();
  // a link with another token, opened in a tab that already shows the dashboard
  useEffect(() => {
    const signInByLink = () => {
      const token = takeTokenFromAddress();
      if (token !== null) setSession(startSession(token));
    };
    addEventListener('hashchange', signInByLink);
    return () => removeEventListener('hashchange', signInByLink);
  }, []);
  if (crash !== undefined) return <Crash />;
  if (session.token === null) {
    return <SignIn reason={session.reason} signIn={(token) => setSession(startSession(token))} />;
  }
  return <SignedIn key={session.token} session={session} end={(reason) => setSession(endSession(reason))} />;
}

function SignedIn({ session, end }: { session: OpenSession; end(reason: SignOutReason): void }) {
  const { token } = session;
  const [isNoticeClosed, setNoticeClosed] = useState(false);
  const api = useMemo(() => createApi(token, () => end(refusalOf(token, now()))), [token]);
  const reading = useReading<Organization>('organization', (signal) => api.organization(signal));
  const route = useRoute();
  const organization = reading.value;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header organization={organization} route={route} signOut={() => end('signed-out')} />
      <main id="main" tabIndex={-1}>
        {session.hasReplacedOther && organization && !isNoticeClosed && (
          <p class="notice by-link" role="status">
            <span>
              The link signed you in to <bdi>{escapeInvisible(organization.name)}</bdi> and signed you out of the
              previous organization.
            </span>
            <button type="button" class="button quiet" onClick={() => setNoticeClosed(true)}>
              OK
            </button>
          </p>
        )}
        {reading.error && <ErrorCard error={reading.error} retry={reading.retry} />}
        {!organization && !reading.error && <Skeleton kind="page" isSlow={reading.isSlow} />}
        {organization && route.page === 'home' && (
          <Home api={api} organization={organization} onOrganization={reading.put} />
        )}
        {organization && route.page === 'domain' && (
          <Domain
            key={route.domainId}
            api={api}
            organization={organization}
            domainId={route.domainId}
            query={route.query}
          />
        )}
        {organization && route.page === 'log' && (
          <Log
            key={route.domainId}
            api={api}
            organization={organization}
            domainId={route.domainId}
            query={route.query}
          />
        )}
        {organization && route.page === 'visitor' && (
          <Visitor
            key={route.domainId}
            api={api}
            organization={organization}
            domainId={route.domainId}
            visitorId={route.visitorId}
          />
        )}
        {organization && isOfSettings(route) && (
          <Settings
            key={'domainId' in route ? route.domainId : route.page}
            api={api}
            organization={organization}
            route={route}
            onOrganization={reading.put}
          />
        )}
        {organization && route.page === 'webhooks' && (
          <Webhooks api={api} organization={organization} which={route.which} />
        )}
        {organization && route.page === 'unknown' && (
          <section class="card message">
            <h1>Page not found</h1>
            <a class="button primary" href={homeAddress}>
              Go to the overview
            </a>
          </section>
        )}
      </main>
    </>
  );
}
