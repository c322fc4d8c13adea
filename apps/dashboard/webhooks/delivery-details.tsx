/** A dialog with one message: its content, every attempt, and the next one. */
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { isolated } from '../parts/isolated.tsx';
import { nameOfDomain } from './coverage.ts';
import { Outcome } from './outcome.tsx';
import type { Replay } from './webhook-api.ts';
import { type Delivery, entriesOf, idOfTry, messageNames, nextTryOf } from './webhook-facts.ts';

interface Props {
  delivery: Delivery;
  /** all loaded deliveries, newest first */
  deliveries: Delivery[];
  onReplay: ((from: Replay) => void) | undefined;
  onClose(): void;
}

export function DeliveryDetails({ delivery, deliveries, onReplay, onClose }: Props) {
  const { organization } = useSignedIn();
  const { type, messageId, domainId, first, log } = delivery;
  const loaded = deliveries.filter((each) => each.messageId === messageId);
  const tries = loaded.length > 0 ? loaded : [delivery];
  const next = nextTryOf(tries[0] ?? delivery);
  const entries = entriesOf(delivery);
  return (
    <Dialog title={messageNames[type]} isBusy={false} onClose={onClose}>
      <Facts class="delivery-facts">
        {domainId !== null && <Fact name="Domain">{isolated(nameOfDomain(organization, domainId))}</Fact>}
        {entries !== null && <Fact name="Positions">{entries}</Fact>}
        {next !== null && <Fact name="Next try">{next}</Fact>}
        <Fact name="Message id" isWide>
          <code>{messageId}</code>
        </Fact>
      </Facts>
      <FramedTable
        class="as-cards delivery-tries"
        caption="Tries of this message, newest first"
        rows={tries}
        keyOf={idOfTry}
        columns={[
          {
            head: 'Try',
            cell: ({ attempt }) => (
              <>
                <span class="delivery-label">Try </span>
                {count(attempt)}
              </>
            ),
          },
          { head: 'Time (UTC)', class: 'digits', cell: ({ at }) => <time dateTime={at}>{dateAndTime(at)}</time> },
          { head: 'Result', cell: (each) => <Outcome delivery={each} /> },
          { head: 'Duration', is: 'number', cell: ({ milliseconds }) => `${count(milliseconds)} ms` },
        ]}
      />
      <p class="hint">The message and the response are not stored.</p>
      <div class="actions">
        {onReplay && type === 'records.sealed' && domainId !== null && first !== null && (
          <Button text="Replay from here…" onClick={() => onReplay({ domainId, from: first, log: log ?? undefined })} />
        )}
        <Button text="Close" kind="primary" onClick={onClose} />
      </div>
    </Dialog>
  );
}
