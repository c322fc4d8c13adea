/** One try: when, what, how it went, and whether there will be another. */
import type { Organization } from '#libs/contract/statistics';
import { now } from '../../data/service-clock.ts';
import type { Replay } from '../../data/webhook-api.ts';
import { type Delivery, failureOf, isDelivered, messageNames } from '../../data/webhooks.ts';
import { count, dateAndTime, dateOf, timeOfDay } from '../../format.ts';
import { nameOfDomain } from './coverage.ts';

interface Props {
  delivery: Delivery;
  /** of its message */
  isNewest: boolean;
  organization: Organization;
  onReplay: ((from: Replay) => void) | undefined;
}

export function DeliveryRow({ delivery, isNewest, organization, onReplay }: Props) {
  const { at, type, domainId, log, first, attempt, milliseconds, status } = delivery;
  const name = domainId === null ? null : nameOfDomain(organization, domainId);
  const entries = entriesOf(delivery);
  return (
    <tr>
      <td class="delivery-time">
        <time dateTime={at}>
          {dateOf(at)} <strong>{timeOfDay(at)}</strong>
        </time>
      </td>
      <td class="delivery-message">
        {messageNames[type]}
        {name !== null && (
          <span class="muted">
            {' '}
            <bdi>{name}</bdi>
            {entries !== null && `, ${entries}`}
          </span>
        )}
      </td>
      <td class="delivery-outcome">
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
      <td class="delivery-replay">
        {onReplay && type === 'records.sealed' && domainId !== null && first !== null && (
          <button
            type="button"
            class="button quiet"
            aria-label={`Replay ${name} from ${entryName(first)} on`}
            onClick={() => onReplay({ domainId, from: first, log: log ?? undefined })}
          >
            Replay
          </button>
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
