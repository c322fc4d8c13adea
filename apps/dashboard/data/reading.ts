/** One answer that a view needs: loading, slow, there, or failed with a way to try again. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Trouble } from './api.ts';

/** Milliseconds after which what is shown meanwhile fades: most answers come sooner, and nothing has to flicker. */
const lateAfter = 150;
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
  isLate: boolean;
  isSlow: boolean;
  retry(): void;
  /** takes over an answer that came otherwise, such as a live one */
  put(value: T): void;
}

const atRest = { trouble: undefined, isLoading: false, isLate: false, isSlow: false, failures: 0 };

interface State<T> {
  value: T | undefined;
  trouble: Trouble | undefined;
  isLoading: boolean;
  isLate: boolean;
  isSlow: boolean;
  /** tries in a row that failed */
  failures: number;
}

interface Flight<T> {
  answer: Promise<T>;
  signal: AbortSignal;
}

/** Reads anew with each key. A refused token is not this view's matter: it ends the session. */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const [attempt, setAttempt] = useState({ isByItself: false });
  const [state, setState] = useState<State<T>>({ ...atRest, value: undefined, isLoading: true });
  const latest = useRef(read);
  latest.current = read;
  const readKey = useRef(key);
  const flight = useRef<Flight<T> | null>(null);

  // the key says when to read again: asked at once, and the answer is taken after the click's own picture
  useLayoutEffect(() => {
    const own = new AbortController();
    const answer = latest.current(own.signal);
    // whoever takes it hears of what went wrong
    answer.catch(() => {});
    flight.current = { answer, signal: own.signal };
    return () => own.abort();
  }, [key, attempt]);

  useEffect(() => {
    if (!flight.current) return undefined;
    const { answer, signal } = flight.current;
    // what was wrong stays in view while it is tried again by itself
    if (!attempt.isByItself || readKey.current !== key)
      setState(({ value }) => ({ ...atRest, value, isLoading: true }));
    readKey.current = key;
    const timers = [
      setTimeout(() => setState((before) => ({ ...before, isLate: before.isLoading })), lateAfter),
      setTimeout(() => setState((before) => ({ ...before, isSlow: before.isLoading })), slowAfter),
    ];
    const stop = () => timers.forEach(clearTimeout);
    answer
      .then(
        (value) => {
          if (!signal.aborted) setState({ ...atRest, value });
        },
        (error: unknown) => {
          if (signal.aborted) return;
          const trouble = error instanceof Trouble ? error : new Trouble('problem', 'This page made a mistake.');
          if (trouble.kind === 'refused') return;
          setState(({ trouble: before, failures }) => ({
            ...atRest,
            value: undefined,
            // one that goes on is told once, and its id stays as it is being copied
            trouble: before && before.kind === trouble.kind && before.code === trouble.code ? before : trouble,
            failures: failures + 1,
          }));
        },
      )
      .finally(stop);
    return stop;
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
  const { value, isLoading, isLate, isSlow } = state;
  return { value, trouble, isLoading, isLate, isSlow, retry, put };
}

const isPassing = ({ kind, status }: Trouble): boolean => kind !== 'problem' || passing.includes(status);
