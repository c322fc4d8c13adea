/** An error in words, with a retry and the request id that finds it in the service's log. */
import './error-card.css';
import { useState } from 'preact/hooks';
import { copyText } from '../clipboard.ts';
import type { ApiError } from '../data/api-error.ts';

interface Message {
  title: string;
  text: string;
}

const messages: Record<string, Message> = {
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

function messageFor({ kind, code }: ApiError): Message {
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
    messages[code ?? ''] ?? {
      title: 'Something went wrong',
      text: 'The service gave an answer that this page does not know.',
    }
  );
}

export function ErrorCard({ error, retry }: { error: ApiError; retry(): void }) {
  const { title, text } = messageFor(error);
  return (
    <section class="card error-card" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {error.code === 'invalid_request' && <p class="muted">{error.message}</p>}
      <div class="actions">
        <button type="button" class="button primary" onClick={retry}>
          Try again
        </button>
        {error.requestId && <RequestId id={error.requestId} />}
      </div>
    </section>
  );
}

function RequestId({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <span class="request-id">
      Request id <code>{id}</code>
      <button type="button" class="button quiet" onClick={() => void copyText(id).then(setCopied)}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
