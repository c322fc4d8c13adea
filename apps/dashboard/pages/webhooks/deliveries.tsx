/** Every try of the last 30 days. */
import type { Organization } from '#libs/contract/statistics';
import type { DeliveriesPage } from '#libs/contract/webhook';
import type { Replay } from '../../data/webhook-api.ts';
import type { OlderTries } from '../../data/webhook-reading.ts';
import { idOfTry } from '../../data/webhooks.ts';
import { DeliveryRow } from './delivery-row.tsx';

interface Props {
  tries: DeliveriesPage;
  older: OlderTries;
  organization: Organization;
  onReplay: ((from: Replay) => void) | undefined;
}

export function Deliveries({ tries: { deliveries, nextCursor }, older, organization, onReplay }: Props) {
  // a message has the same id in each try
  const newest = new Set(new Map(deliveries.toReversed().map((each) => [each.messageId, each])).values());
  return (
    <section class="card deliveries-card" aria-labelledby="deliveries-title">
      <header class="card-head">
        <h2 id="deliveries-title">Deliveries</h2>
        <p class="muted">Every try of the last 30 days, newest first</p>
      </header>
      {deliveries.length === 0 ? (
        <p class="muted deliveries-none">Nothing has been sent yet. A test shows whether your receiver answers.</p>
      ) : (
        <div class="table-frame">
          <table class="deliveries">
            <caption class="hidden">Deliveries, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Time (UTC)</th>
                <th scope="col">Message</th>
                <th scope="col">Outcome</th>
                <th scope="col">Try</th>
                <th scope="col">
                  <span class="hidden">Replay</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {deliveries.map((delivery) => (
                <DeliveryRow
                  key={idOfTry(delivery)}
                  delivery={delivery}
                  isNewest={newest.has(delivery)}
                  organization={organization}
                  onReplay={onReplay}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {nextCursor !== null && (
        <div class="deliveries-more">
          {older.hasFailed && <span role="alert">Older deliveries could not be loaded. </span>}
          <button type="button" class="button" disabled={older.isLoading} onClick={older.load}>
            {older.isLoading ? 'Loading…' : older.hasFailed ? 'Try again' : 'Older deliveries'}
          </button>
        </div>
      )}
    </section>
  );
}
