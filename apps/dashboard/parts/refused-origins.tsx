/** Origins that tried to record but are not on the list, each with a button that adds it. */
import './refused-origins.css';
import { dayOf } from '#libs/base/terms/calendar';
import { isAllowed } from '#libs/base/terms/origin';
import type { RefusedOrigin } from '#libs/tenants/contract';
import { now } from '../data/service-clock.ts';
import { dateOf, hourAndMinute } from '../format.ts';
import { Button } from './button.tsx';
import { isolated } from './isolated.tsx';
import { LookAlike } from './look-alike.tsx';

interface Props {
  refused: RefusedOrigin[];
  /** the domain's allowed origins */
  origins: string[];
  onAdd(origin: string): void;
}

export function RefusedOrigins({ refused, origins, onAdd }: Props) {
  const missing = refused.filter(({ origin }) => !isAllowed(origins, origin));
  return (
    <div class="refused-status" role="status">
      {missing.length > 0 && (
        <div class="stack gap-6 refused-origins">
          <p class="hint" id="refused-note">
            Anybody can send such a request in the name of any website, and nobody has checked these. Add only addresses
            of your own.
          </p>
          <ul class="stack gap-6 anywhere" aria-label="Refused origins" aria-describedby="refused-note">
            {missing.map(({ origin, refusedAt }) => (
              <li key={origin} class="beside">
                <span>
                  <strong>{isolated(origin)}</strong> tried to record {whenOf(refusedAt)} and is not on the list.{' '}
                  <LookAlike origin={origin} origins={origins} />
                </span>
                <Button kind="quiet" onClick={() => onAdd(origin)}>
                  Add<span class="hidden"> {origin} to the list</span>
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

const whenOf = (time: string): string =>
  dayOf(Date.parse(time)) === dayOf(now()) ? `at ${hourAndMinute(time)} UTC` : `on ${dateOf(time)}`;
