import './live-badge.css';
/** Says whether the figures are live, or how old they are. `null`: the period is over. */

import type { LiveState } from '../data/query.ts';
import { localTimeOfDay } from '../format.ts';

export function LiveBadge({ state }: { state: LiveState | null }) {
  if (state === null) return <span class="live">Final figures</span>;
  if (state.status === 'waiting' || state.status === 'live')
    return (
      <span class="live live-on" role="status">
        <span class="live-dot" aria-hidden="true" />
        Updates by itself
      </span>
    );
  return (
    <span class="live live-lost" role="status">
      <span class="live-dot" aria-hidden="true" />
      {problemWith(state.status)}: figures from {localTimeOfDay(state.updatedAt)}
    </span>
  );
}

function problemWith(status: LiveState['status']): string {
  if (!navigator.onLine) return 'You are offline';
  return status === 'late' ? 'Waiting for the service' : 'No connection to the service';
}
