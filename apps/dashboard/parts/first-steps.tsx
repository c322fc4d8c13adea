/** An organization without decisions: what to paste so that there are some. */
import type { Organization } from '#libs/contract/responses';
import { Snippet } from './snippet.tsx';

type Domain = Organization['domains'][number];

/** In the operator's shell; the key is shown there once and nowhere else. */
const command = (text: string) => `npm run -s assent -- ${text}`;

export function FirstDomain({ organizationId }: { organizationId: string }) {
  return (
    <section class="card first-steps">
      <h2>Add the first domain</h2>
      <p>This organization has no domain yet. Whoever runs Assent makes one, and a key for it, on the command line.</p>
      <Snippet
        name="Command line"
        code={`${command(`domain create ${organizationId} www.example.com --origin https://www.example.com`)}\n${command('key create DOMAIN')}`}
      />
      <p class="muted">This page notices by itself.</p>
    </section>
  );
}

export function FirstRecord({ domain, period }: { domain: Domain; period: string }) {
  const origin = location.origin;
  return (
    <section class="card first-steps">
      <h2>Waiting for the first decision</h2>
      <p>
        Nobody decided {period}. Put the tag on <bdi>{domain.name}</bdi>, or send a decision by hand: it appears here
        within about a second.
      </p>
      <Snippet
        name="The tag"
        code={`<script src="${origin}/widget.js"\n  data-domain="${domain.domainId}" data-key="ak_…" defer></script>`}
      />
      <Snippet
        name="By hand"
        code={`curl -X POST '${origin}/v1/consent/${domain.domainId}/record' \\\n  -H 'x-api-key: ak_…' -H 'content-type: application/json' \\\n  -d '{"decision":"accept_all","visitorId":"v-1"}'`}
      />
      <p class="muted">
        The key (<code>ak_…</code>) was shown when it was made. Another one:{' '}
        <code>{command(`key create ${domain.domainId}`)}</code>
      </p>
    </section>
  );
}
