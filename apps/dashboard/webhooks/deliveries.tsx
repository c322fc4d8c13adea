/** The list of delivery attempts of the last 30 days. */
import { useState } from 'preact/hooks';
import type { DeliveriesPage } from '#libs/webhooks/contract';
import type { NextPage } from '../data/next-page.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateOf, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { nameOfDomain } from './coverage.ts';
import { DeliveryDetails } from './delivery-details.tsx';
import { Outcome } from './outcome.tsx';
import type { Replay } from './webhook-api.ts';
import { type Delivery, entriesOf, idOfTry, messageNames, nextTryOf } from './webhook-facts.ts';

interface Props {
  tries: DeliveriesPage;
  older: NextPage;
  onReplay: ((from: Replay) => void) | undefined;
}

export function Deliveries({ tries: { deliveries, nextCursor }, older, onReplay }: Props) {
  const { organization } = useSignedIn();
  const [opened, setOpened] = useState<Delivery | null>(null);
  const nameOf = ({ domainId }: Delivery) => domainId && nameOfDomain(organization, domainId);
  // a message has the same id in each attempt
  const newest = new Set(new Map(deliveries.toReversed().map((each) => [each.messageId, each])).values());
  return (
    <section class="card deliveries-card" aria-labelledby="deliveries-title">
      <header class="card-head">
        <h2 id="deliveries-title">Deliveries</h2>
        <p class="muted">Every try of the last 30 days, newest first</p>
      </header>
      {deliveries.length === 0 ? (
        <p class="muted deliveries-none">
          Nothing has been sent yet. Send a test to see whether your receiver responds.
        </p>
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
            {
              head: 'Result',
              cell: (delivery) => (
                <>
                  <Outcome delivery={delivery} />
                  <span class="muted digits">, {count(delivery.milliseconds)} ms</span>
                </>
              ),
            },
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
              head: <span class="hidden">Details</span>,
              class: 'number delivery-details',
              cell: (delivery) => (
                <Button
                  text="Details"
                  kind="quiet"
                  aria-label={`Details of the delivery at ${timeOfDay(delivery.at)}`}
                  onClick={() => setOpened(delivery)}
                />
              ),
            },
          ]}
        />
      )}
      {opened && (
        <DeliveryDetails
          delivery={opened}
          deliveries={deliveries}
          onReplay={
            onReplay &&
            ((from) => {
              setOpened(null);
              onReplay(from);
            })
          }
          onClose={() => setOpened(null)}
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

/** The time of the next attempt, if it is in the future. */
function NextTry({ delivery }: { delivery: Delivery }) {
  const next = nextTryOf(delivery);
  if (next === null) return null;
  return <span class="muted">{delivery.nextTryAt === null ? ', last try' : `, next at ${next}`}</span>;
}
