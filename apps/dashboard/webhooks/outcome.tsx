/** The outcome of an attempt. */
import { type Delivery, failureOf, isDelivered } from './webhook-facts.ts';

export const Outcome = ({ delivery }: { delivery: Delivery }) =>
  isDelivered(delivery) ? (
    <>
      <span class="delivery-good">Delivered</span> <span class="muted">HTTP {delivery.status}</span>
    </>
  ) : (
    <span class="delivery-bad">{failureOf(delivery)}</span>
  );
