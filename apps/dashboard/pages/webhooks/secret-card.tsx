/** The secret of a webhook, this once. */
import { useEffect, useRef } from 'preact/hooks';
import type { FreshSecret } from '../../data/webhooks.ts';
import { dateAndTime } from '../../format.ts';
import { Snippet } from '../../parts/snippet.tsx';

export function SecretCard({ fresh, onDone }: { fresh: FreshSecret; onDone(): void }) {
  const title = useRef<HTMLHeadingElement>(null);
  const { secret, previousUntil } = fresh;
  // what had the focus is gone
  useEffect(() => title.current?.focus(), [secret]);
  return (
    <section class="card message webhook-secret" aria-labelledby="secret-title">
      <h2 id="secret-title" ref={title} tabIndex={-1}>
        Copy the secret now: it is not shown again
      </h2>
      <p>
        Your receiver uses it to check that messages come from this service.
        {previousUntil !== null &&
          ` Until ${dateAndTime(previousUntil)} UTC, messages are also signed with the previous secret.`}
      </p>
      <Snippet name="Secret" code={secret} />
      <button type="button" class="button" onClick={onDone}>
        Done
      </button>
    </section>
  );
}
