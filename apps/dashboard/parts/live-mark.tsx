/** Whether the figures move by themselves, and how old they are when they do not. */
import { localClock } from '../format.ts';
import type { LiveState } from '../live.ts';

export function LiveMark({ state }: { state: LiveState | null }) {
  if (state === null) return <span class="live live-still">Complete period</span>;
  if (state.status !== 'lost')
    return (
      <span class="live live-on" role="status">
        <span class="live-dot" aria-hidden="true" />
        Live
      </span>
    );
  return (
    <span class="live live-lost" role="status">
      <span class="live-dot" aria-hidden="true" />
      {navigator.onLine ? 'No connection to the service' : 'You are offline'}: figures of {localClock(state.heardAt)}
    </span>
  );
}
