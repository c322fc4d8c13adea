/** One answer that a view needs: loading, slow, there, or failed with a way to try again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Trouble } from './api.ts';

/** Milliseconds after which a view says that it takes long. */
const slowAfter = 2_500;
/** Milliseconds before the first try by itself; each next one waits twice as long, up to the longest. */
const firstPause = 1_000;
const longestPause = 15_000;
/** Answers of a service, or of what stands before it, that is on its way back. */
const passing: readonly (number | undefined)[] = [502, 503, 504];

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
  /** tries in a row that failed */
  failures: number;
}

/** Reads anew with each key. A refused token is not this view's matter: it ends the session. */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const [attempt, setAttempt] = useState({ isByItself: false });
  const [state, setState] = useState<State<T>>({
    value: undefined,
    trouble: undefined,
    isLoading: true,
    isSlow: false,
    failures: 0,
  });
  const latest = useRef(read);
  latest.current = read;
  const readKey = useRef(key);

  // the key says when to read again
  useEffect(() => {
    const own = new AbortController();
    // what was wrong stays in view while it is tried again by itself
    if (!attempt.isByItself || readKey.current !== key)
      setState(({ value }) => ({ value, trouble: undefined, isLoading: true, isSlow: false, failures: 0 }));
    readKey.current = key;
    const timer = setTimeout(() => setState((before) => ({ ...before, isSlow: before.isLoading })), slowAfter);
    latest
      .current(own.signal)
      .then(
        (value) => {
          if (!own.signal.aborted)
            setState({ value, trouble: undefined, isLoading: false, isSlow: false, failures: 0 });
        },
        (error: unknown) => {
          if (own.signal.aborted) return;
          const trouble = error instanceof Trouble ? error : new Trouble('problem', 'This page made a mistake.');
          if (trouble.kind === 'refused') return;
          setState(({ trouble: before, failures }) => ({
            value: undefined,
            // one that goes on is told once, and its id stays as it is being copied
            trouble: before && before.kind === trouble.kind && before.code === trouble.code ? before : trouble,
            isLoading: false,
            isSlow: false,
            failures: failures + 1,
          }));
        },
      )
      .finally(() => clearTimeout(timer));
    return () => {
      own.abort();
      clearTimeout(timer);
    };
  }, [key, attempt]);

  // what passes is tried again by itself, while somebody can see it, and at once when there is a network again
  const { trouble, failures } = state;
  useEffect(() => {
    if (!trouble || !isPassing(trouble)) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => setAttempt({ isByItself: true });
    const pause = Math.min(firstPause * 2 ** (failures - 1), longestPause);
    const schedule = () => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible')
        timer = setTimeout(again, Math.max(pause, (trouble.retryAfter ?? 0) * 1_000));
    };
    schedule();
    document.addEventListener('visibilitychange', schedule);
    addEventListener('online', again);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', schedule);
      removeEventListener('online', again);
    };
  }, [trouble, failures]);

  const retry = useCallback(() => setAttempt({ isByItself: false }), []);
  const put = useCallback(
    (value: T) => setState((before) => (before.isLoading ? before : { ...before, value, trouble: undefined })),
    [],
  );
  return { value: state.value, trouble, isLoading: state.isLoading, isSlow: state.isSlow, retry, put };
}

const isPassing = ({ kind, status }: Trouble): boolean => kind !== 'problem' || passing.includes(status);
