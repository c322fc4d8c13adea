/** From the session to the page: nothing is drawn before the service has accepted the token. */
import { useEffect, useErrorBoundary, useMemo, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/responses';
import { createApi } from './data/api.ts';
import { useReading } from './data/reading.ts';
import { homeAddress, useRoute } from './data/router.ts';
import { now } from './data/service-clock.ts';
import {
  type Ending,
  endingOf,
  endSession,
  handedOver,
  type OpenSession,
  openSession,
  startSession,
} from './data/session.ts';
import { visible } from './format.ts';
import { Domain } from './pages/domain/domain.tsx';
import { Home } from './pages/home/home.tsx';
import { Log } from './pages/log/log.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';
import { TroubleCard } from './parts/error-card.tsx';
import { Header } from './parts/header.tsx';
import { Skeleton } from './parts/skeleton.tsx';

export function App() {
  const [session, setSession] = useState(openSession);
  const [mistake] = useErrorBoundary();
  // a link with another token, opened where this page already is
  useEffect(() => {
    const take = () => {
      const token = handedOver();
      if (token !== null) setSession(startSession(token));
    };
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  if (mistake !== undefined) return <Mistake />;
  if (session.token === null) {
    return <SignIn ending={session.ending} signIn={(token) => setSession(startSession(token))} />;
  }
  return <SignedIn key={session.token} session={session} end={(ending) => setSession(endSession(ending))} />;
}

/** An answer that this page cannot draw, as between two releases: never a blank page. */
const Mistake = () => (
  <main id="main">
    <section class="card trouble" role="alert">
      <h1>This page made a mistake</h1>
      <p>
        It met something that it does not know, perhaps another release of the service. Loading it again helps then.
      </p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Load again
      </button>
    </section>
  </main>
);

function SignedIn({ session, end }: { session: OpenSession; end(ending: Ending): void }) {
  const { token } = session;
  const [isTold, setTold] = useState(false);
  // one for each token
  const api = useMemo(() => createApi(token, () => end(endingOf(token, now()))), [token]);
  const reading = useReading<Organization>('organization', (signal) => api.organization(signal));
  const route = useRoute();
  const organization = reading.value;
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Header organization={organization} route={route} signOut={() => end('signed-out')} />
      <main id="main">
        {session.isByLink && organization && !isTold && (
          <p class="notice by-link" role="status">
            <span>
              The link signed you in to <bdi>{visible(organization.name)}</bdi>, and out of the organization before.
            </span>
            <button type="button" class="button quiet" onClick={() => setTold(true)}>
              OK
            </button>
          </p>
        )}
        {reading.trouble && <TroubleCard trouble={reading.trouble} retry={reading.retry} />}
        {!organization && !reading.trouble && <Skeleton kind="page" isSlow={reading.isSlow} />}
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
        {organization && route.page === 'unknown' && (
          <section class="card trouble">
            <h1>No such page</h1>
            <a class="button primary" href={homeAddress}>
              To the overview
            </a>
          </section>
        )}
      </main>
    </>
  );
}
