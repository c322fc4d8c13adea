/** A described error, with a retry and the request id that identifies it in the service log. */
import { useState } from 'preact/hooks';
import type { AssentError } from '#libs/client/assent-error';
import { copyText } from '../clipboard.ts';
import { sentence } from '../data/api-error.ts';
import { Button } from './button.tsx';

interface Message {
  title: string;
  text: string;
}

/** Texts by error code. */
const messages: Record<string, Message> = {
  offline: { title: 'You are offline', text: 'The figures return when this device is online again.' },
  unreachable: {
    title: 'The service cannot be reached',
    text: 'It may be restarting, or the network may be down. This page keeps trying.',
  },
  domain_not_found: {
    title: 'Domain not found',
    text: 'Your organization has no domain with this id. It may have been removed, or the link belongs to another organization.',
  },
  webhook_not_found: {
    title: 'Webhook not found',
    text: 'Your organization has no webhook with this id. It may have been deleted, or the link belongs to another organization.',
  },
  insufficient_scope: {
    title: 'You may not see this',
    text: 'It needs a right that you do not have. Ask somebody who manages your organization, or who issued your access token.',
  },
  rate_limited: {
    title: 'Too many requests',
    text: 'This token has used up its requests for this minute. Try again in a moment.',
  },
  unavailable: {
    title: 'The service is unavailable',
    text: 'It cannot answer at the moment. This page keeps trying.',
  },
  not_configured: {
    title: 'Not set up here',
    text: 'Whoever runs this installation has to set up what this page needs.',
  },
  internal_error: {
    title: 'The service reported an error',
    text: 'Its log has the details under the request id below. No recorded decision is lost.',
  },
  invalid_request: {
    title: 'Invalid request',
    text: 'The address or a filter has an invalid value.',
  },
};

const messageFor = ({ code }: AssentError): Message =>
  messages[code] ?? { title: 'Something went wrong', text: 'The service sent an unexpected answer.' };

export function ErrorCard({ error, retry }: { error: AssentError; retry(): void }) {
  const { title, text } = messageFor(error);
  return (
    <section class="card message" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {isDetailShown(error) && <p class="muted">{sentence(error.message)}</p>}
      <div class="actions">
        <Button text="Try again" kind="primary" onClick={retry} />
        {error.requestId && <RequestId id={error.requestId} />}
      </div>
    </section>
  );
}

/** Codes whose detail from the service is shown as well. */
const isDetailShown = ({ code }: AssentError): boolean =>
  ['invalid_request', 'insufficient_scope', 'unavailable', 'not_configured'].includes(code);

function RequestId({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <span class="cluster hint request-id">
      Request id <code>{id}</code>
      <Button text={isCopied ? 'Copied' : 'Copy'} kind="quiet" onClick={() => void copyText(id).then(setCopied)} />
    </span>
  );
}
