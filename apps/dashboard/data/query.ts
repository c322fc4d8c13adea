/** Hooks that read from the service: once, with retries, or by polling. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import { everySecond, type Polling, startPolling } from './polling.ts';

/** Milliseconds after which the old value fades. Most responses come sooner, so nothing flickers. */
const fadesAfter = 150;
/** Milliseconds after which the view says that loading is slow. */
const slowAfter = 2_500;

export interface Reading<T> {
  /** the value; while another one loads, the previous one */
  value: T | undefined;
  error: AssentError | undefined;
  isLoading: boolean;
  isLate: boolean;
  isSlow: boolean;
  retry(): void;
  /** replaces the value, for example after a poll */
  put(value: T): void;
  /** the newest value, even between two renders */
  latest(): T | undefined;
}

type State<T> = Omit<Reading<T>, 'retry' | 'put' | 'latest'>;

const idle = { error: undefined, isLoading: false, isLate: false, isSlow: false };

/** Reads when `key` changes. A rejected token is not reported here: it ends the session. */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State<T>>({ ...idle, value: undefined, isLoading: true });
  const [current, latest, isPending] = [useRef(read), useRef(state.value), useRef(true)];
  current.current = read;
  latest.current = state.value;
  const end = (next: (before: State<T>) => State<T>) => {
    isPending.current = false;
    setState(next);
  };
  // a layout effect, so that the request starts before painting
  useLayoutEffect(() => {
    isPending.current = true;
    return startPolling<T>({
      ask: (signal) => current.current(signal),
      onAnswer: (value) => end(() => ({ ...idle, value })),
      onFailure: (cause) => {
        const error = cause instanceof AssentError ? cause : new AssentError('unexpected', 'Something went wrong.');
        if (error.status === 401) return false;
        // during an outage the first error stays, so that its request id can be copied
        const isSame = (before?: AssentError) => before && before.status === error.status && before.code === error.code;
        end(({ error: before }) => ({ ...idle, value: undefined, error: isSame(before) ? before : error }));
        // no retry after a rate limit, which would use up the next minute as well
        return error.isTransient && error.status !== 429;
      },
      onLate: () => {},
      interval: null,
      isEager: true,
    });
  }, [key, attempt]);
  // an effect, so that the click is painted first
  useEffect(() => {
    if (!isPending.current) return undefined;
    setState(({ value }) => ({ ...idle, value, isLoading: true }));
    const become = (changed: Partial<State<T>>) => () =>
      setState((before) => (before.isLoading ? { ...before, ...changed } : before));
    const timers = [setTimeout(become({ isLate: true }), fadesAfter), setTimeout(become({ isSlow: true }), slowAfter)];
    return () => timers.forEach(clearTimeout);
  }, [key, attempt]);

  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  const put = useCallback((value: T) => {
    setState((before) => {
      if (before.isLoading) return before;
      latest.current = value;
      return { ...before, value, error: undefined };
    });
  }, []);
  return { ...state, retry, put, latest: () => latest.current };
}

export interface LiveState {
  status: 'waiting' | 'live' | 'late' | 'lost';
  /** Unix milliseconds of the last response */
  updatedAt: number;
}

interface Live<Answer> extends Pick<Polling<Answer>, 'ask' | 'onAnswer'> {
  /** milliseconds between the starts of two requests */
  interval?: number;
  isEager?: boolean;
}

/** Polls while `key` is not null, and starts over when it changes. The callbacks may change on every render. */
export function useLive<Answer>(key: string | null, given: Live<Answer>): LiveState | null {
  const [state, setState] = useState<LiveState>(() => ({ status: 'waiting', updatedAt: Date.now() }));
  const [current, updatedAt] = [useRef(given), useRef(state.updatedAt)];
  current.current = given;
  useEffect(() => {
    if (key === null) return undefined;
    // render only when the status changes
    const become = (status: LiveState['status']) =>
      setState((before) => (before.status === status ? before : { status, updatedAt: updatedAt.current }));
    const onOffline = () => become('lost');
    addEventListener('offline', onOffline);
    const stop = startPolling<Answer>({
      ask: (signal) => current.current.ask(signal),
      onAnswer: (answer) => {
        updatedAt.current = Date.now();
        become('live');
        current.current.onAnswer(answer);
      },
      onFailure: () => {
        become('lost');
        return true;
      },
      onLate: () => become('late'),
      interval: current.current.interval ?? everySecond,
      isEager: current.current.isEager ?? false,
    });
    return () => {
      removeEventListener('offline', onOffline);
      stop();
    };
  }, [key]);
  return key === null ? null : state;
}
