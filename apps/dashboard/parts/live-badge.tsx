/** Whether the figures move by themselves, and how old they are when they do not. */

import type { LiveState, LiveStatus } from '../data/live.ts';
import { localClock } from '../format.ts';

export function LiveMark({ state }: { state: LiveState | null }) {
  if (state === null) return <span class="live live-still">Complete period</span>;
  if (state.status === 'waiting' || state.status === 'live')
    return (
      <span class="live live-on" role="status">
        <span class="live-dot" aria-hidden="true" />
        Live
      </span>
    );
  return (
    <span class="live live-lost" role="status">
      <span class="live-dot" aria-hidden="true" />
      {wordsFor(state.status)}: figures of {localClock(state.heardAt)}
    </span>
  );
}

function wordsFor(status: LiveStatus): string {
  if (!navigator.onLine) return 'You are offline';
  return status === 'late' ? 'Waiting for the service' : 'No connection to the service';
}
