/** What an organization without domains shows: how to create one. */
import { assentCommand } from '../../parts/assent-command.ts';
import { Snippet } from '../../parts/snippet.tsx';

export function FirstDomain({ organizationId }: { organizationId: string }) {
  const createDomain = `domain create ${organizationId} www.example.com --origin https://www.example.com`;
  return (
    <section class="card message">
      <h2>Add the first domain</h2>
      <p>
        This organization has no domain yet. The operator of Assent creates one, and a key for it, on the command line.
      </p>
      <Snippet name="Command line" code={`${assentCommand(createDomain)}\n${assentCommand('key create DOMAIN')}`} />
      <p class="muted">This page updates once the domain exists.</p>
    </section>
  );
}
