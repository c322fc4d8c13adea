/** While no record comes: which origins the domain refuses, and a button that puts one on its list. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownDomain } from '#libs/contract/manage';
import type { Api } from '../../data/api.ts';
import { textOf } from '../../data/api-error.ts';
import { useLive } from '../../data/live.ts';
import type { Called } from '../../data/webhook-api.ts';
import { escapeInvisible } from '../../format.ts';
import { RefusedOrigins } from '../../parts/refused-origins.tsx';

/** milliseconds */
const askEvery = 2_000;

export function Refused({ api, domainId }: { api: Api; domainId: string }) {
  const [shown, setShown] = useState<Called<ShownDomain> | null>(null);
  const [added, setAdded] = useState('');
  const [failure, setFailure] = useState('');
  const message = useRef<HTMLParagraphElement>(null);
  // an answer that was asked for before a change would show the list before it
  const changes = useRef(0);
  const isBusy = useRef(false);
  useLive(domainId, {
    interval: askEvery,
    ask: async (signal) => ({ asOf: changes.current, newest: await api.manage.domain(domainId, signal) }),
    onAnswer: ({ asOf, newest }) => {
      if (asOf === changes.current) setShown(newest);
    },
  });
  // the button that was clicked is gone with its origin
  useEffect(() => {
    if (added) message.current?.focus();
  }, [added]);
  if (!shown) return null;
  const { refusedOrigins, origins } = shown.body;
  const add = async (origin: string) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setFailure('');
    try {
      const { body, tag } = await api.manage.changeDomain(domainId, { origins: [...origins, origin] }, shown.tag);
      changes.current += 1;
      setShown({ body: { ...body, refusedOrigins }, tag });
      setAdded(origin);
    } catch (error) {
      setFailure(textOf(error));
    } finally {
      isBusy.current = false;
    }
  };
  return (
    <>
      <RefusedOrigins refused={refusedOrigins} origins={origins} onAdd={(origin) => void add(origin)} />
      {failure && (
        <p class="field-note" role="alert">
          {failure}
        </p>
      )}
      {added && (
        <p ref={message} tabIndex={-1}>
          <bdi>{escapeInvisible(added)}</bdi> is on the list now. Reload its page and decide.
        </p>
      )}
    </>
  );
}
