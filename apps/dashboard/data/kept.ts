/** One thing as it is now: read once, polled while the page is visible, with what changes here put in at once. */
import { useRef } from 'preact/hooks';
import { type LiveState, useLive } from './live.ts';
import { type Reading, useReading } from './reading.ts';

interface Kept<T> extends Reading<T> {
  live: LiveState | null;
  /** the newest, also between two renders */
  latest(): T | undefined;
  /** Takes over what a change answered. */
  change(changed: Partial<T>): void;
}

interface Options<T> {
  read(signal: AbortSignal): Promise<T>;
  /** What a poll makes of what is shown; `before` itself where nothing has changed. */
  merge(before: T, newest: T): T;
  /** nothing is asked meanwhile */
  isQuiet?: boolean;
}

export function useKept<T extends object>(key: string, { read, merge, isQuiet = false }: Options<T>): Kept<T> {
  const reading = useReading(key, read);
  const latest = useRef(reading.value);
  latest.current = reading.value;
  const put = (value: T) => {
    latest.current = value;
    reading.put(value);
  };
  // an answer that was asked for before a change would show the state before it
  const changes = useRef(0);
  const live = useLive(reading.value && !isQuiet ? key : null, {
    ask: async (signal) => ({ asOf: changes.current, newest: await read(signal) }),
    onAnswer: ({ asOf, newest }) => {
      const before = latest.current;
      if (!before || asOf !== changes.current) return;
      const merged = merge(before, newest);
      if (merged !== before) put(merged);
    },
  });
  return {
    ...reading,
    live,
    put,
    latest: () => latest.current,
    change: (changed) => {
      changes.current += 1;
      if (latest.current) put({ ...latest.current, ...changed });
    },
  };
}
