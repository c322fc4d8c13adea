/** What a domain without decisions shows: the way to its banner, and for developers a tag and a command. */
import './first-record.css';
import type { Organization } from '#libs/contract/statistics';
import { settingsAddress, widgetAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { widgetTag } from '../data/widget-tag.ts';
import { escapeInvisible } from '../format.ts';
import { assentCommand } from './assent-command.ts';
import { Snippet } from './snippet.tsx';

type Domain = Organization['domains'][number];

interface Props {
  organization: Organization;
  domain: Domain;
  period: string;
}

export function FirstRecord({ organization, domain, period }: Props) {
  const origin = location.origin;
  return (
    <section class="card message">
      <h2>Waiting for the first decision</h2>
      <p>
        No decisions {period}. Set up the banner, put its tag into the pages of{' '}
        <bdi>{escapeInvisible(domain.name)}</bdi>, and decide there: the decision appears here within about a second.
      </p>
      <a class="button primary" href={widgetAddress(domain.domainId)}>
        Set up the banner
      </a>
      <details class="developers">
        <summary>For developers: the plain tag, and a decision by hand</summary>
        <Snippet name="The tag" code={widgetTag(domain.domainId, 'ak_…')} />
        <Snippet
          name="By hand"
          code={`curl -X POST '${origin}/v1/consent/${domain.domainId}/record' \\\n  -H 'x-api-key: ak_…' -H 'content-type: application/json' \\\n  -d '{"decision":"accept_all","visitorId":"v-1"}'`}
        />
        <p class="muted">
          The key (<code>ak_…</code>) was shown once, when it was created. To create another one:{' '}
          {mayManage(organization) ? (
            <a href={settingsAddress(domain.domainId)}>settings of this domain</a>
          ) : (
            <code>{assentCommand(`key create ${domain.domainId}`)}</code>
          )}
        </p>
      </details>
    </section>
  );
}
