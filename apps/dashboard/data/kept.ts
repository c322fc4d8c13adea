/** One thing as it is now: read once, polled while the page is visible, with what changes here put in at once. */
import { useRef } from 'preact/hooks';
import { type LiveState, type Reading, useLive, useReading } from './query.ts';

interface Kept<T> extends Reading<T> {
  live: LiveState | null;
  /** Takes over what a change answered. */
  change(changed: Partial<T>): void;
}

interface KeptOptions<T> {
  read(signal: AbortSignal): Promise<T>;
  /** What a poll makes of what is shown; `before` itself where nothing has changed. The newest, if absent. */
  merge?(before: T, newest: T): T;
  /** nothing is asked meanwhile */
  isQuiet?: boolean | undefined;
  interval?: number;
}

export function useKept<T extends object>(key: string, { read, merge, isQuiet, interval }: KeptOptions<T>): Kept<T> {
  const reading = useReading(key, read);
  const { value, isLoading, latest, put } = reading;
  // an answer that was asked for before a change would show the state before it
  const changes = useRef(0);
  const live = useLive(value && !isLoading && !isQuiet ? key : null, {
    ask: async (signal) => ({ asOf: changes.current, newest: await read(signal) }),
    onAnswer: ({ asOf, newest }) => {
      const before = latest();
      if (!before || asOf !== changes.current) return;
      const merged = merge ? merge(before, newest) : newest;
      if (merged !== before) put(merged);
    },
    ...(interval !== undefined && { interval }),
  });
  const change = (changed: Partial<T>) => {
    changes.current += 1;
    const before = latest();
    if (before) put({ ...before, ...changed });
  };
  return { ...reading, live, change };
}
