/** A value that is read once and polled while the page is visible. Changes made here show at once. */
import { useRef } from 'preact/hooks';
import { type LiveState, type Reading, useLive, useReading } from './query.ts';

interface LiveValue<T> extends Reading<T> {
  live: LiveState | null;
  /** Merges the response to a change. */
  change(changed: Partial<T>): void;
}

interface LiveValueOptions<T> {
  read(signal: AbortSignal): Promise<T>;
  /** Combines the shown value with a poll's; returns `before` itself if nothing has changed. Default: the newest. */
  merge?(before: T, newest: T): T;
  /** pauses polling */
  isQuiet?: boolean | undefined;
  interval?: number;
}

export function useLiveValue<T extends object>(
  key: string,
  { read, merge, isQuiet, interval }: LiveValueOptions<T>,
): LiveValue<T> {
  const reading = useReading(key, read);
  const { value, isLoading, latest, put } = reading;
  // a response to a poll from before a change would show the old state
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
