/**
 * The polling loop behind every view: one request at a time, and only while the page is visible.
 *
 * Polling instead of server-sent events, because it is stateless: it works behind any proxy, with any number of API
 * processes and with tokens that expire, and an open tab does not hold a connection. Every response is complete, so there
 * is nothing to miss or replay. A poll costs the service one Redis script, and on the home page, when a total has moved,
 * two short reads of Postgres as well.
 */
import { AssentError } from '#libs/client/assent-error';

/** Milliseconds between the starts of two requests by default, and after the first failure. */
export const everySecond = 1_000;
/** The wait doubles with every failure, up to this many milliseconds. */
const longestWait = 15_000;
/** A response that takes longer, in milliseconds, means a busy service: the next wait is a multiple of it. */
const slowAnswer = 500;
const slowFactor = 4;
/** Milliseconds without a response after which figures no longer count as live. */
const lateAfter = 3_000;

export interface Polling<Answer> {
  ask(signal: AbortSignal): Promise<Answer>;
  onAnswer(answer: Answer): void;
  /** Returns whether to retry. */
  onFailure(error: unknown): boolean;
  onLate(): void;
  /** Milliseconds between the starts of two requests; null stops after the first response. */
  interval: number | null;
  /** sends the first request at once, not after the first interval */
  isEager: boolean;
}

/** Returns a function that stops the polling. */
export function startPolling<Answer>({
  ask,
  onAnswer,
  onFailure,
  onLate,
  interval,
  isEager,
}: Polling<Answer>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pending: AbortController | undefined;
  let startedAt = performance.now();
  let failures = 0;
  let isOver = false;
  const untilNext = () => Math.max(0, startedAt + (interval ?? everySecond) - performance.now());
  const schedule = (wait: number) => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible' && !isOver) timer = setTimeout(run, wait);
  };

  async function run() {
    const own = new AbortController();
    pending = own;
    startedAt = performance.now();
    const lateTimer = setTimeout(() => {
      if (!own.signal.aborted && failures === 0) onLate();
    }, lateAfter);
    try {
      const answer = await ask(own.signal);
      if (own.signal.aborted) return;
      failures = 0;
      isOver = interval === null;
      onAnswer(answer);
      const took = performance.now() - startedAt;
      schedule(Math.max(untilNext(), took > slowAnswer ? Math.min(took * slowFactor, longestWait) : 0));
    } catch (error) {
      if (own.signal.aborted) return;
      failures += 1;
      isOver = !onFailure(error);
      const requested = error instanceof AssentError ? error.retryAfter : 0;
      schedule(Math.max(requested, Math.min(everySecond * 2 ** (failures - 1), longestWait)));
    } finally {
      clearTimeout(lateTimer);
      if (pending === own) pending = undefined;
    }
  }

  const abort = () => {
    clearTimeout(timer);
    pending?.abort();
    pending = undefined;
  };
  const onVisibility = () => {
    // a single read continues in a hidden page
    if (document.visibilityState !== 'visible') return interval !== null && abort();
    if (!pending) schedule(untilNext());
  };
  const onOnline = () => {
    if (!pending) schedule(interval === null ? 0 : untilNext());
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  if (isEager) void run();
  else schedule(untilNext());
  return () => {
    isOver = true;
    abort();
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
  };
}
