/** Origins that tried to record and are not on the list, each with a way onto it. */
import './refused-origins.css';
import { dayOf } from '#libs/contract/calendar';
import type { RefusedOrigin } from '#libs/contract/manage';
import { isAllowed } from '#libs/contract/origin';
import { now } from '../data/service-clock.ts';
import { dateOf, escapeInvisible, minuteOfDay } from '../format.ts';

interface Props {
  refused: RefusedOrigin[];
  /** the list */
  origins: string[];
  onAdd(origin: string): void;
}

export function RefusedOrigins({ refused, origins, onAdd }: Props) {
  const missing = refused.filter(({ origin }) => !isAllowed(origins, origin));
  return (
    <div class="refused-told" role="status">
      {missing.length > 0 && (
        <ul class="refused-origins" aria-label="Refused origins">
          {missing.map(({ origin, refusedAt }) => (
            <li key={origin}>
              <span>
                <strong>
                  <bdi>{escapeInvisible(origin)}</bdi>
                </strong>{' '}
                tried to record {whenOf(refusedAt)} and is not on the list.
              </span>
              <button type="button" class="button quiet" onClick={() => onAdd(origin)}>
                Add<span class="hidden"> {origin} to the list</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const whenOf = (time: string): string =>
  dayOf(Date.parse(time)) === dayOf(now()) ? `at ${minuteOfDay(time)} UTC` : `on ${dateOf(time)}`;
