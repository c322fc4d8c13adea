/** What went wrong, in words, with the id that finds it in the service's log, and a way to try again. */
import { useState } from 'preact/hooks';
import { copy } from '../clipboard.ts';
import type { Trouble } from '../data/api.ts';

interface Words {
  title: string;
  text: string;
}

const byCode: Record<string, Words> = {
  domain_not_found: {
    title: 'No such domain',
    text: 'Your organization has no domain with this id. It may have been removed, or the link belongs to another organization.',
  },
  rate_limited: {
    title: 'Too many requests',
    text: 'This token asked for more than the service allows in a minute. It goes on in a moment.',
  },
  unavailable: {
    title: 'The service cannot answer now',
    text: 'It cannot reach its database. Decisions are still being recorded, and figures return once it can.',
  },
  internal_error: {
    title: 'The service made a mistake',
    text: 'It is in the service’s log under the id below. Nothing that was recorded is lost by it.',
  },
  invalid_request: {
    title: 'The service did not take this request',
    text: 'Something in the address or in a filter breaks a rule.',
  },
};

function wordsFor({ kind, code }: Trouble): Words {
  if (kind === 'offline')
    return {
      title: 'You are offline',
      text: 'The figures come back by themselves once this device has a network again.',
    };
  if (kind === 'unreachable')
    return {
      title: 'The service cannot be reached',
      text: 'It did not answer. It may be restarting, or a network between may be down. This page keeps trying.',
    };
  return (
    byCode[code ?? ''] ?? {
      title: 'Something went wrong',
      text: 'The service gave an answer that this page does not know.',
    }
  );
}

export function TroubleCard({ trouble, retry }: { trouble: Trouble; retry: () => void }) {
  const { title, text } = wordsFor(trouble);
  return (
    <section class="card trouble" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {trouble.code === 'invalid_request' && <p class="muted">{trouble.message}</p>}
      <div class="actions">
        <button type="button" class="button primary" onClick={retry}>
          Try again
        </button>
        {trouble.requestId && <RequestId id={trouble.requestId} />}
      </div>
    </section>
  );
}

function RequestId({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <span class="request-id">
      Request id <code>{id}</code>
      <button type="button" class="button quiet" onClick={() => void copy(id).then(setCopied)}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
