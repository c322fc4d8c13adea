/** Every try of the last 30 days. */
import type { DeliveriesPage } from '#libs/webhooks/contract';
import type { Older } from '../data/older.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime, dateOf, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
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
  const { organization } = useSignedIn();
  const nameOf = ({ domainId }: Delivery) => domainId && nameOfDomain(organization, domainId);
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
        <FramedTable
          class="as-cards deliveries"
          caption="Deliveries, newest first"
          rows={deliveries}
          keyOf={idOfTry}
          columns={[
            {
              head: 'Time (UTC)',
              class: 'digits delivery-time',
              cell: ({ at }) => (
                <time dateTime={at}>
                  {dateOf(at)} <strong>{timeOfDay(at)}</strong>
                </time>
              ),
            },
            {
              head: 'Message',
              class: 'anywhere delivery-message',
              cell: (delivery) => <Message delivery={delivery} name={nameOf(delivery)} />,
            },
            { head: 'Outcome', cell: (delivery) => <Outcome delivery={delivery} /> },
            {
              head: 'Try',
              class: 'delivery-try',
              cell: (delivery) => (
                <>
                  <span class="delivery-label">Try </span>
                  {count(delivery.attempt)}
                  {newest.has(delivery) && <NextTry delivery={delivery} />}
                </>
              ),
            },
            {
              head: <span class="hidden">Replay</span>,
              class: 'number delivery-replay',
              cell: (delivery) => {
                const { type, domainId, first, log } = delivery;
                if (!onReplay || type !== 'records.sealed' || domainId === null || first === null) return null;
                return (
                  <Button
                    text="Replay"
                    kind="quiet"
                    aria-label={`Replay ${nameOf(delivery)} from ${entryName(first)} on`}
                    onClick={() => onReplay({ domainId, from: first, log: log ?? undefined })}
                  />
                );
              },
            },
          ]}
        />
      )}
      {nextCursor !== null && <LoadOlder older={older} what="deliveries" />}
    </section>
  );
}

function Message({ delivery, name }: { delivery: Delivery; name: string | null }) {
  const entries = entriesOf(delivery);
  return (
    <>
      {messageNames[delivery.type]}
      {name !== null && (
        <span class="muted">
          {' '}
          <bdi>{name}</bdi>
          {entries !== null && `, ${entries}`}
        </span>
      )}
    </>
  );
}

const Outcome = ({ delivery }: { delivery: Delivery }) =>
  isDelivered(delivery) ? (
    <>
      <span class="delivery-good">Delivered</span>{' '}
      <span class="muted">
        {delivery.status}, {count(delivery.milliseconds)} ms
      </span>
    </>
  ) : (
    <>
      <span class="delivery-bad">Failed</span>: {failureOf(delivery)}
    </>
  );

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
