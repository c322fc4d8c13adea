/** Shown for a domain without decisions: a link to its banner, and for developers a tag and a command. */
import type { Organization } from '#libs/stats/contract';
import './first-record.css';
import { base, demoDomain, serviceAddress } from '../data/base.ts';
import { settingsAddress, widgetAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { widgetTag } from '../data/widget-tag.ts';
import { assentCommand } from './assent-command.ts';
import { ButtonLink } from './button.tsx';
import { isolated } from './isolated.tsx';
import { Snippet } from './snippet.tsx';

type Domain = Organization['domains'][number];

interface Props {
  domain: Domain;
  period: string;
}

export function FirstRecord({ domain, period }: Props) {
  const { organization } = useSignedIn();
  return (
    <section class="card message">
      <h2>Waiting for the first decision</h2>
      <p>
        No decisions {period}. Publish the banner, put its tag into the pages of {isolated(domain.name)}, and decide
        there: the decision appears here within about a second.
      </p>
      <div class="actions">
        <ButtonLink text="Set up the banner" kind="primary" href={widgetAddress(domain.domainId)} />
        {domain.domainId === demoDomain && <ButtonLink text="Decide in the demo shop" href={`${base}/demo`} />}
      </div>
      <details class="developers">
        <summary>For developers: the tag, and a decision by hand</summary>
        <Snippet name="The tag" code={widgetTag(domain.domainId)} />
        <Snippet
          name="By hand"
          code={`curl -X POST '${serviceAddress()}/v1/consent/${domain.domainId}/record' \\\n  -H 'x-api-key: ak_…' -H 'content-type: application/json' \\\n  -d '{"decision":"accept_all","visitorId":"v-1"}'`}
        />
        <p class="muted">
          The tag shows the banner once one is published. For decisions by hand, a key (<code>ak_…</code>) is shown
          once, when it is created:{' '}
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
