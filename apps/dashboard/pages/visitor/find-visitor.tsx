/** Asks for a visitor's id. It goes into the fragment of the address, which no server sees. */
import { useEffect, useState } from 'preact/hooks';
import { navigate, visitorAddress } from '../../data/router.ts';

export function FindVisitor({ domainId, visitorId }: { domainId: string; visitorId: string | null }) {
  const [typed, setTyped] = useState(visitorId ?? '');
  useEffect(() => setTyped(visitorId ?? ''), [visitorId]);
  return (
    <form
      class="card find-visitor"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== '') navigate(visitorAddress(domainId, typed));
      }}
    >
      <label>
        Visitor
        <input
          type="search"
          maxLength={128}
          placeholder="Full visitor id"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button primary" disabled={typed === ''}>
        Find
      </button>
    </form>
  );
}
