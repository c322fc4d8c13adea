/** How a test went, or what else could not be done. */
import { type Delivery, failureOf, isDelivered } from '../../data/webhooks.ts';
import { count } from '../../format.ts';
import type { Outcome } from './actions.tsx';

export function TestResult({ outcome, deliveries }: { outcome: Outcome; deliveries: Delivery[] }) {
  if (typeof outcome === 'object' && 'failure' in outcome)
    return (
      <p class="field-note" role="alert">
        {outcome.failure}
      </p>
    );
  const testId = typeof outcome === 'object' ? outcome.testId : null;
  const tried = deliveries.find(({ messageId }) => messageId === testId);
  return (
    <p role="status" class={tried && !isDelivered(tried) ? 'field-note' : 'webhook-result'}>
      {testId !== null && !tried && 'Sending the test…'}
      {tried && (isDelivered(tried) ? `The test was delivered in ${count(tried.milliseconds)} ms.` : failed(tried))}
    </p>
  );
}

const failed = (tried: Delivery): string => `The test failed: ${failureOf(tried)}.`;
