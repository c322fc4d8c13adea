/** One answer that a view needs: loading, slow, there, or failed with a way to try again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Trouble } from './api.ts';

/** Milliseconds after which a view says that it takes long. */
const slowAfter = 2_500;

export interface Reading<T> {
  /** the answer, or while another is on its way the one before */
  value: T | undefined;
  trouble: Trouble | undefined;
  isLoading: boolean;
  isSlow: boolean;
  retry(): void;
  /** takes over an answer that came otherwise, such as a live one */
  put(value: T): void;
}

interface State<T> {
  value: T | undefined;
  trouble: Trouble | undefined;
  isLoading: boolean;
  isSlow: boolean;
}

/** Reads anew with each key. A refused token is not this view's matter: it ends the session. */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State<T>>({
    value: undefined,
    trouble: undefined,
    isLoading: true,
    isSlow: false,
  });
  const latest = useRef(read);
  latest.current = read;

  // the key says when to read again
  useEffect(() => {
    const own = new AbortController();
    setState(({ value }) => ({ value, trouble: undefined, isLoading: true, isSlow: false }));
    const timer = setTimeout(() => setState((before) => ({ ...before, isSlow: before.isLoading })), slowAfter);
    latest
      .current(own.signal)
      .then(
        (value) => {
          if (!own.signal.aborted) setState({ value, trouble: undefined, isLoading: false, isSlow: false });
        },
        (error: unknown) => {
          if (own.signal.aborted) return;
          const trouble = error instanceof Trouble ? error : new Trouble('problem', 'This page made a mistake.');
          if (trouble.kind !== 'refused') setState({ value: undefined, trouble, isLoading: false, isSlow: false });
        },
      )
      .finally(() => clearTimeout(timer));
    return () => {
      own.abort();
      clearTimeout(timer);
    };
  }, [key, attempt]);

  // what could not be reached is tried again as soon as there is a network
  useEffect(() => {
    if (!state.trouble || state.trouble.kind === 'problem') return undefined;
    const again = () => setAttempt((count) => count + 1);
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [state.trouble]);

  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  const put = useCallback(
    (value: T) => setState((before) => (before.isLoading ? before : { ...before, value, trouble: undefined })),
    [],
  );
  return { ...state, retry, put };
}
