/** Asks for a visitor's id. It goes into the fragment of the address, which no server sees. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { navigate, visitorAddress } from '../../data/router.ts';
import { VisitorField } from '../../parts/visitor-field.tsx';

export function FindVisitor({ domainId, visitorId }: { domainId: string; visitorId: string | null }) {
  const [typed, setTyped] = useState(visitorId ?? '');
  // before anything can be typed, which a later effect would take back
  useLayoutEffect(() => setTyped(visitorId ?? ''), [visitorId]);
  return (
    <form
      class="card find-visitor"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== '') navigate(visitorAddress(domainId, typed));
      }}
    >
      <VisitorField value={typed} onType={setTyped} />
      <button type="submit" class="button primary" disabled={typed === ''}>
        Find
      </button>
    </form>
  );
}
