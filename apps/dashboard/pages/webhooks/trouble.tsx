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
  if (state === 'paused') {
    const isOurs = isGivenUp(webhook, deliveries);
    return (
      <section class="card message plan-notice" aria-labelledby="trouble-title">
        <h2 id="trouble-title">{isOurs ? 'The service paused this webhook' : 'This webhook is paused'}</h2>
        <p>{isOurs && why} Only tests are sent. When you resume it, it continues where it stopped.</p>
      </section>
    );
  }
  return (
    <section class="card message plan-notice" aria-labelledby="trouble-title">
      <h2 id="trouble-title">Failing since {dateAndTime(failingSince ?? '')} UTC</h2>
      <p>
        {why}{' '}
        {last?.nextTryAt &&
          `The next try is at ${dateAndTime(last.nextTryAt)} UTC; later messages of the same domain wait until then. `}
        To try now, pause and resume the webhook.
      </p>
    </section>
  );
}
