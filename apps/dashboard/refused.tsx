/** Shown instead of a page that needs a scope which the access token, or the person, lacks. */
import { Fragment } from 'preact';
import { type dashboardPages, type PageName, pageOf } from '#libs/base/terms/dashboard-pages';
import { rights } from './data/rights.ts';
import type { Route } from './data/router.ts';
import { isPerson, useSignedIn } from './data/signed-in.ts';
import { PageHead } from './parts/page-head.tsx';

type Needs = [what: string, note: string];

const records: Needs = ['Seeing statistics and the log', 'What visitors of this domain decided'];
const managed = 'What an organization manages itself';
const webhooks: Needs = [
  'Seeing and changing webhooks',
  'Signed messages to your own systems about new entries, erasures and limits. Times are UTC.',
];
const erasures: Needs = ['Seeing erasures', 'Visitors who were erased'];

/** Pages that need a scope. */
type GuardedPage = {
  [Name in PageName]: (typeof dashboardPages)[Name] extends { scopes: unknown } ? Name : never;
}[PageName];

/** For each page: the action that needs the scope, and the subtitle of the page. */
const needs: Record<GuardedPage, Needs> = {
  domain: records,
  groups: records,
  experiments: records,
  log: records,
  widget: ['Seeing a banner', 'How the banner of this domain looks and what it asks'],
  checks: ['Seeing what a check of the site found', 'What the site did before and after the choice'],
  notices: ['Seeing what visitors were shown', 'What visitors of this domain were shown, by day'],
  visitor: ['Reading and erasing one visitor', 'What is stored about one visitor of this domain. Times are UTC.'],
  domains: ['Managing domains', managed],
  'new-domain': ['Making a domain', managed],
  settings: ['Managing a domain and its keys', managed],
  people: ['Managing people', managed],
  activity: ['Seeing who did what', managed],
  webhooks,
  webhook: webhooks,
  erasures,
  erasure: erasures,
};

export function Refused({ route }: { route: Exclude<Route, { page: 'unknown' }> }) {
  const { page } = route;
  const ofPerson = isPerson(useSignedIn());
  const { name, scopes = [] } = pageOf(page);
  const [what, note] = page in needs ? needs[page as GuardedPage] : [name, ''];
  return (
    <>
      {'domainId' in route ? (
        <PageHead note={note} domain={{ domainId: route.domainId, page }} />
      ) : (
        <PageHead title={name} note={note} tabs={page} />
      )}
      <section class="card message plan-notice">
        <h2>{ofPerson ? 'You may not open this page' : 'Your access token does not allow this page'}</h2>
        <p>
          {what} needs the {ofPerson ? 'right' : 'scope'}{' '}
          {scopes.map((scope, at) => (
            <Fragment key={scope}>
              {at > 0 && (at < scopes.length - 1 ? ', ' : ' or ')}
              {ofPerson ? <strong>{rights[scope]}</strong> : <code>{scope}</code>}
            </Fragment>
          ))}
          {ofPerson
            ? '. Ask somebody who manages your organization.'
            : ', whatever the plan. Sign in with a token that has it; whoever issues your tokens can add it.'}
        </p>
      </section>
    </>
  );
}
