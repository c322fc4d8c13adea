/** The settings and the state of a webhook. */
import { useState } from 'preact/hooks';
import type { Webhook } from '#libs/webhooks/contract';
import { useAttempt } from '../data/attempt.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, counted, dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Failure } from '../parts/field.tsx';
import { decisionsText, domainsText, typesText } from './coverage.ts';
import { webhooksOf } from './webhook-api.ts';
import { usualBytes } from './webhook-draft.ts';
import {
  type Delivery,
  failureOf,
  idOfTry,
  isGivenUp,
  lastOfMessages,
  stateOf,
  type WebhookState,
} from './webhook-facts.ts';

export function Settings({ webhook }: { webhook: Webhook }) {
  const { organization } = useSignedIn();
  const decisions = decisionsText(webhook);
  return (
    <Facts>
      <Fact name="State">
        <StateTag webhook={webhook} />
      </Fact>
      <Fact name="Last delivered">
        {webhook.lastDeliveredAt === null ? 'nothing yet' : `${dateAndTime(webhook.lastDeliveredAt)} UTC`}
      </Fact>
      <Fact name="Created">{dateAndTime(webhook.createdAt)} UTC</Fact>
      <Fact name="Events">{typesText(webhook)}</Fact>
      <Fact name="Domains">
        <bdi>{domainsText(webhook, organization)}</bdi>
      </Fact>
      {decisions !== null && <Fact name="Decisions">{decisions}</Fact>}
      {webhook.headers.length > 0 && <Fact name="Headers">{webhook.headers.join(', ')}</Fact>}
      {webhook.maxBytes !== usualBytes && <Fact name="Largest message">{count(webhook.maxBytes)} bytes</Fact>}
    </Facts>
  );
}

const names: Record<WebhookState, string> = { active: 'Active', failing: 'Failing', paused: 'Paused' };

export function StateTag({ webhook }: { webhook: Webhook }) {
  const state = stateOf(webhook);
  return <span class={`webhook-state webhook-${state}`}>{names[state]}</span>;
}

/** Explains why messages fail, and what happens next. Empty while they succeed. */
export function Trouble({ webhook, deliveries }: { webhook: Webhook; deliveries: Delivery[] }) {
  const state = stateOf(webhook);
  if (state === 'active') return null;
  const { failingSince } = webhook;
  const last = lastOfMessages(deliveries);
  const why = last?.outcome === 'failed' && `The last try failed: ${failureOf(last)}.`;
  const isOurs = isGivenUp(webhook, deliveries);
  const isPaused = state === 'paused';
  const paused = isOurs ? 'The service paused this webhook' : 'This webhook is paused';
  return (
    <section class="card message plan-notice" aria-labelledby="trouble-title">
      <h2 id="trouble-title">{isPaused ? paused : `Failing since ${dateAndTime(failingSince ?? '')} UTC`}</h2>
      {isPaused ? (
        <p>{isOurs && why} Only tests are sent. When you resume it, it continues where it stopped.</p>
      ) : (
        <p>
          {why}{' '}
          {last?.nextTryAt &&
            `The next try is at ${dateAndTime(last.nextTryAt)} UTC; later messages of the same domain wait until then.`}
        </p>
      )}
      {!isPaused && <TryNow key={last && idOfTry(last)} webhook={webhook} />}
    </section>
  );
}

/** Rendered again after each attempt, with its outcome. */
function TryNow({ webhook: { webhookId } }: { webhook: Webhook }) {
  const { api } = useSignedIn();
  const { failure, attempt } = useAttempt();
  const [messages, setMessages] = useState<number | null>(null);
  const retry = async () => setMessages((await webhooksOf(api).retry(webhookId)).messages);
  return (
    <>
      <Button text="Try now" onClick={() => attempt(retry)} />
      <Failure>{failure}</Failure>
      <p role="status" class="gone-if-empty">
        {messages !== null && (messages === 0 ? 'Nothing is waiting.' : `Sending ${counted(messages, 'message')}…`)}
      </p>
    </>
  );
}
