/** The home page for a token that may not read figures: links to the pages that it may open. */
import { activeFirst } from '../data/domains.ts';
import { firstPageOf } from '../data/first-page.ts';
import { rights } from '../data/rights.ts';
import { mayManage, mayPublish, mayReadVisitors, maySeeActs } from '../data/scopes.ts';
import { isPerson, useSignedIn } from '../data/signed-in.ts';
import { count } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { PageHead } from '../parts/page-head.tsx';

const listed = 20;

export function WithoutFigures() {
  const signedIn = useSignedIn();
  const { organization } = signedIn;
  const hasPages = maySeeActs(organization);
  const hasDomains = hasPages || mayPublish(organization);
  const domains = activeFirst(organization.domains);
  const more = domains.length - listed;
  return (
    <>
      <PageHead
        title="Overview"
        note={isPerson(signedIn) ? 'What you may see' : 'What your access token may see'}
        tabs="home"
      />
      <p class="notice">
        {isPerson(signedIn) ? (
          <>
            Statistics and the log need the right <strong>{rights.read}</strong>. Ask somebody who manages your
            organization.
          </>
        ) : (
          <>
            Statistics and the log need the scope <code>read</code>, which your access token lacks; whoever issues your
            tokens can add it.
          </>
        )}
        {hasPages
          ? ' The pages beside Overview are open to you, and those of the domains below.'
          : hasDomains && ' The banners of the domains below are open to you.'}
      </p>
      {hasDomains && domains.length > 0 && (
        <nav class="card" aria-labelledby="domains-title">
          <header class="card-head">
            <h2 id="domains-title">
              {mayReadVisitors(organization)
                ? 'Visitors of a domain'
                : mayManage(organization)
                  ? 'Settings of a domain'
                  : 'Banner of a domain'}
            </h2>
            <p class="muted">{count(domains.length)}</p>
          </header>
          <ul class="rows after-head">
            {domains.slice(0, listed).map(({ domainId, name }) => (
              <li key={domainId}>
                <a href={firstPageOf(domainId, organization)}>{isolated(name)}</a>
              </li>
            ))}
          </ul>
          {more > 0 && <p class="hint">and {count(more)} more in the menu at the top</p>}
        </nav>
      )}
    </>
  );
}
