/** Every try of the last 30 days. */
import type { DeliveriesPage } from '#libs/webhooks/contract';
import type { Older } from '../data/older.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime, dateOf, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { nameOfDomain } from './coverage.ts';
import type { Replay } from './webhook-api.ts';
import { type Delivery, failureOf, idOfTry, isDelivered, messageNames } from './webhook-facts.ts';

interface Props {
  tries: DeliveriesPage;
  older: Older;
  onReplay: ((from: Replay) => void) | undefined;
}

export function Deliveries({ tries: { deliveries, nextCursor }, older, onReplay }: Props) {
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
          <table class="as-cards deliveries">
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
                  onReplay={onReplay}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {nextCursor !== null && <LoadOlder older={older} what="deliveries" />}
    </section>
  );
}

interface RowProps {
  delivery: Delivery;
  /** of its message */
  isNewest: boolean;
  onReplay: ((from: Replay) => void) | undefined;
}

/** One try: when, what, how it went, and whether there will be another. */
function DeliveryRow({ delivery, isNewest, onReplay }: RowProps) {
  const { organization } = useSignedIn();
  const { at, type, domainId, log, first, attempt, milliseconds, status } = delivery;
  const name = domainId === null ? null : nameOfDomain(organization, domainId);
  const entries = entriesOf(delivery);
  return (
    <tr>
      <td class="digits delivery-time">
        <time dateTime={at}>
          {dateOf(at)} <strong>{timeOfDay(at)}</strong>
        </time>
      </td>
      <td class="anywhere delivery-message">
        {messageNames[type]}
        {name !== null && (
          <span class="muted">
            {' '}
            <bdi>{name}</bdi>
            {entries !== null && `, ${entries}`}
          </span>
        )}
      </td>
      <td>
        {isDelivered(delivery) ? (
          <>
            <span class="delivery-good">Delivered</span>{' '}
            <span class="muted">
              {status}, {count(milliseconds)} ms
            </span>
          </>
        ) : (
          <>
            <span class="delivery-bad">Failed</span>: {failureOf(delivery)}
          </>
        )}
      </td>
      <td class="delivery-try">
        <span class="delivery-label">Try </span>
        {count(attempt)}
        {isNewest && <NextTry delivery={delivery} />}
      </td>
      <td class="number delivery-replay">
        {onReplay && type === 'records.sealed' && domainId !== null && first !== null && (
          <Button
            text="Replay"
            kind="quiet"
            aria-label={`Replay ${name} from ${entryName(first)} on`}
            onClick={() => onReplay({ domainId, from: first, log: log ?? undefined })}
          />
        )}
      </td>
    </tr>
  );
}

/** Only what is still to come. */
function NextTry({ delivery: { outcome, type, nextTryAt } }: { delivery: Delivery }) {
  if (outcome === 'delivered' || type === 'webhook.test') return null;
  if (nextTryAt === null) return <span class="muted">, last try</span>;
  return Date.parse(nextTryAt) > now() ? <span class="muted">, next at {dateAndTime(nextTryAt)}</span> : null;
}

const entryName = (position: number): string => `entry ${count(position)}`;

/** `entries 0–99`; of log 2 and later with the log. Null where it is about no positions. */
function entriesOf({ log, first, size }: Delivery): string | null {
  if (first === null || size === null) return null;
  const range = size - first > 1 ? `entries ${count(first)}–${count(size - 1)}` : entryName(first);
  return log !== null && log > 1 ? `${range} of log ${count(log)}` : range;
}
