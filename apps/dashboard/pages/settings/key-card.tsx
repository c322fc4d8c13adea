/** A new key with the tag that has it, this once. */
import { useEffect, useRef } from 'preact/hooks';
import type { MadeKey } from '#libs/contract/manage';
import { keepMadeKey } from '../../data/kept-keys.ts';
import { widgetAddress } from '../../data/router.ts';
import { widgetTag } from '../../data/widget-tag.ts';
import { Snippet } from '../../parts/snippet.tsx';

interface Props {
  made: MadeKey;
  /** somebody may have revoked it meanwhile */
  revokedAt: string | null;
  domainId: string;
  onDone(): void;
}

export function KeyCard({ made: { apiKey }, revokedAt, domainId, onDone }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  // the focus would stay on a button below
  useEffect(() => title.current?.focus(), [apiKey]);
  return (
    <section class="card message settings-made" aria-labelledby="made-title">
      <h2 id="made-title" ref={title} tabIndex={-1}>
        {revokedAt === null ? 'Copy the key now: it is not shown again' : 'This key has been revoked'}
      </h2>
      {revokedAt === null ? (
        <>
          <p>Put the tag into every page that asks its visitors. Everybody can read the key there: it only records.</p>
          <Snippet name="Key" code={apiKey} />
          <Snippet name="Script tag" code={widgetTag(domainId, apiKey)} />
        </>
      ) : (
        <p>Nothing is recorded with it any more. Make another one.</p>
      )}
      <div class="actions">
        <button type="button" class="button" onClick={onDone}>
          Done
        </button>
        {revokedAt === null && (
          <a class="button" href={widgetAddress(domainId)} onClick={() => keepMadeKey(domainId, apiKey)}>
            Set up the banner
          </a>
        )}
      </div>
    </section>
  );
}
