/** The state of one request that a view depends on: loading, slow, answered, or failed with a way to retry. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api-error.ts';

/** Milliseconds after which the old answer fades: most answers come sooner, and then nothing flickers. */
const lateAfter = 150;
/** Milliseconds after which the view says that loading takes long. */
const slowAfter = 2_500;
/** Milliseconds before the first automatic retry; every further wait is twice as long, up to the longest. */
const firstWait = 1_000;
const longestWait = 15_000;
/** Statuses of a service, or of a proxy before it, that is restarting. */
const transientStatuses: readonly (number | undefined)[] = [502, 503, 504];

export interface Reading<T> {
  /** the answer; while another one is loading, the previous one */
  value: T | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
  isLate: boolean;
  isSlow: boolean;
  retry(): void;
  /** replaces the value by one from elsewhere, such as a live update */
  put(value: T): void;
}

interface State<T> extends Omit<Reading<T>, 'retry' | 'put'> {
  /** consecutive failed attempts */
  failures: number;
}

const idle = { error: undefined, isLoading: false, isLate: false, isSlow: false, failures: 0 };

interface Pending<T> {
  answer: Promise<T>;
  signal: AbortSignal;
}

/** Reads again whenever `key` changes. A refused token is not reported here: it ends the session. */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const [attempt, setAttempt] = useState({ isAutomatic: false });
  const [state, setState] = useState<State<T>>({ ...idle, value: undefined, isLoading: true });
  const latest = useRef(read);
  latest.current = read;
  const readKey = useRef(key);
  const pending = useRef<Pending<T> | null>(null);

  // the request starts at once; its answer is handled after the browser has painted the click
  useLayoutEffect(() => {
    const own = new AbortController();
    const answer = latest.current(own.signal);
    // the effect below handles the rejection
    answer.catch(() => {});
    pending.current = { answer, signal: own.signal };
    return () => own.abort();
  }, [key, attempt]);

  useEffect(() => {
    if (!pending.current) return undefined;
    const { answer, signal } = pending.current;
    // during an automatic retry the error stays on the screen
    if (!attempt.isAutomatic || readKey.current !== key) setState(({ value }) => ({ ...idle, value, isLoading: true }));
    readKey.current = key;
    const timers = [
      setTimeout(() => setState((before) => ({ ...before, isLate: before.isLoading })), lateAfter),
      setTimeout(() => setState((before) => ({ ...before, isSlow: before.isLoading })), slowAfter),
    ];
    const stop = () => timers.forEach(clearTimeout);
    answer
      .then(
        (value) => {
          if (!signal.aborted) setState({ ...idle, value });
        },
        (cause: unknown) => {
          if (signal.aborted) return;
          const error = cause instanceof ApiError ? cause : new ApiError('problem', 'Something went wrong.');
          if (error.kind === 'refused') return;
          setState(({ error: before, failures }) => ({
            ...idle,
            value: undefined,
            // a lasting outage keeps its first error, so that its request id can be copied
            error: before && before.kind === error.kind && before.code === error.code ? before : error,
            failures: failures + 1,
          }));
        },
      )
      .finally(stop);
    return stop;
  }, [key, attempt]);

  // retries transient errors while the page is visible, and at once when the network is back
  const { error, failures } = state;
  useEffect(() => {
    if (!error || !isTransient(error)) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const retryNow = () => setAttempt({ isAutomatic: true });
    const wait = Math.min(firstWait * 2 ** (failures - 1), longestWait);
    const schedule = () => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') timer = setTimeout(retryNow, Math.max(wait, error.retryAfter));
    };
    schedule();
    document.addEventListener('visibilitychange', schedule);
    addEventListener('online', retryNow);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', schedule);
      removeEventListener('online', retryNow);
    };
  }, [error, failures]);

  const retry = useCallback(() => setAttempt({ isAutomatic: false }), []);
  const put = useCallback(
    (value: T) => setState((before) => (before.isLoading ? before : { ...before, value, error: undefined })),
    [],
  );
  return { ...state, retry, put };
}

const isTransient = ({ kind, status, code }: ApiError): boolean =>
  kind !== 'problem' || (transientStatuses.includes(status) && code !== 'not_configured');
