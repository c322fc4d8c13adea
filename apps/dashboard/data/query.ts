/** What a view shows of the service: read once, and again where that fails for a while, or polled. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import { type Asking, everySecond, startAsking } from './asking.ts';

/** Milliseconds after which the old answer fades: most answers come sooner, and then nothing flickers. */
const fadesAfter = 150;
/** Milliseconds after which the view says that loading takes long. */
const slowAfter = 2_500;

export interface Reading<T> {
  /** the answer; while another one is loading, the previous one */
  value: T | undefined;
  error: AssentError | undefined;
  isLoading: boolean;
  isLate: boolean;
  isSlow: boolean;
  retry(): void;
  /** replaces the value by one from elsewhere, such as a live update */
  put(value: T): void;
  /** the newest value, also between two renders */
  latest(): T | undefined;
}

type State<T> = Omit<Reading<T>, 'retry' | 'put' | 'latest'>;

const idle = { error: undefined, isLoading: false, isLate: false, isSlow: false };

/** Reads again whenever `key` changes. A refused token is not reported here: it ends the session. */
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
  // the request starts at once
  useLayoutEffect(() => {
    isPending.current = true;
    return startAsking<T>({
      ask: (signal) => current.current(signal),
      onAnswer: (value) => end(() => ({ ...idle, value })),
      onFailure: (cause) => {
        const error = cause instanceof AssentError ? cause : new AssentError('unexpected', 'Something went wrong.');
        if (error.status === 401) return false;
        // a lasting outage keeps its first error, so that its request id can be copied
        const isSame = (before?: AssentError) => before && before.status === error.status && before.code === error.code;
        end(({ error: before }) => ({ ...idle, value: undefined, error: isSame(before) ? before : error }));
        // a rate limit is shown, so that the page does not use up the next minute, too
        return error.isTransient && error.status !== 429;
      },
      onLate: () => {},
      interval: null,
      isEager: true,
    });
  }, [key, attempt]);
  // after the browser has painted the click
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
  /** Unix milliseconds of the last answer */
  updatedAt: number;
}

interface Live<Answer> extends Pick<Asking<Answer>, 'ask' | 'onAnswer'> {
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
    // no render every second while the status stays the same
    const become = (status: LiveState['status']) =>
      setState((before) => (before.status === status ? before : { status, updatedAt: updatedAt.current }));
    const onOffline = () => become('lost');
    addEventListener('offline', onOffline);
    const stop = startAsking<Answer>({
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
