/** Why messages do not get through, and what happens next. Nothing while they do. */
import type { Webhook } from '#libs/contract/webhook';
import { type Delivery, failureOf, isGivenUp, lastOfMessages, stateOf } from '../../data/webhooks.ts';
import { dateAndTime } from '../../format.ts';

export function Trouble({ webhook, deliveries }: { webhook: Webhook; deliveries: Delivery[] }) {
  const state = stateOf(webhook);
  if (state === 'active') return null;
  const { failingSince } = webhook;
  const last = lastOfMessages(deliveries);
  const why = last?.outcome === 'failed' && `The last try failed: ${failureOf(last)}.`;
  if (state === 'paused')
    return (
      <section class="card message plan-notice" aria-labelledby="trouble-title">
        <h2 id="trouble-title">
          {isGivenUp(webhook, deliveries) ? 'The service paused this webhook' : 'This webhook is paused'}
        </h2>
        <p>
          {isGivenUp(webhook, deliveries) && `${why} `}
          Nothing is sent but tests. Resume it, and it goes on where it stopped.
        </p>
      </section>
    );
  return (
    <section class="card message plan-notice" aria-labelledby="trouble-title">
      <h2 id="trouble-title">Failing since {dateAndTime(failingSince ?? '')}</h2>
      <p>
        {why}{' '}
        {last?.nextTryAt && `It is tried again at ${dateAndTime(last.nextTryAt)}, and later messages wait until then. `}
        To try at once, pause the webhook and resume it.
      </p>
    </section>
  );
}
