/**
 * Asks for fresh figures: at most once a second, one request at a time, and only while the page is visible.
 *
 * Polling instead of server-sent events, because it is stateless: it works behind any proxy, with any number of API
 * processes and with tokens that expire, and an open tab does not hold a connection. Every answer is complete, so there
 * is nothing to miss or replay. A poll costs the service one Redis script, and on the home page, when a total has moved,
 * two short reads of Postgres as well.
 */
import { ApiError } from './api-error.ts';

/** Milliseconds between the starts of two requests, unless another interval is asked for. */
const everySecond = 1_000;
/** Milliseconds. An answer that takes longer means a busy service: the next wait is this many times as long. */
const slowAnswer = 500;
const slowFactor = 4;
/** Milliseconds without an answer after which the figures no longer count as live. */
const lateAfter = 3_000;
/** Milliseconds: the longest wait after failures. */
const longestWait = 15_000;

export type PollStatus = 'waiting' | 'live' | 'late' | 'lost';

export interface Poll<Answer> {
  ask(signal: AbortSignal): Promise<Answer>;
  onAnswer(answer: Answer): void;
  onStatus(status: PollStatus): void;
  /** milliseconds between the starts of two requests */
  interval?: number | undefined;
}

/** Returns a function that stops the polling. */
export function startPoll<Answer>({ ask, onAnswer, onStatus, interval = everySecond }: Poll<Answer>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pending: AbortController | undefined;
  let startedAt = performance.now();
  let failures = 0;

  const schedule = (wait: number) => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') timer = setTimeout(run, wait);
  };
  const untilNext = () => Math.max(0, startedAt + interval - performance.now());

  async function run() {
    const own = new AbortController();
    pending = own;
    startedAt = performance.now();
    const lateTimer = setTimeout(() => {
      if (!own.signal.aborted && failures === 0) onStatus('late');
    }, lateAfter);
    try {
      const answer = await ask(own.signal);
      if (own.signal.aborted) return;
      failures = 0;
      onStatus('live');
      onAnswer(answer);
      const took = performance.now() - startedAt;
      schedule(took > slowAnswer ? Math.min(took * slowFactor, longestWait) : untilNext());
    } catch (error) {
      if (own.signal.aborted) return;
      failures += 1;
      onStatus('lost');
      const requested = error instanceof ApiError ? error.retryAfter : 0;
      schedule(Math.max(requested, Math.min(everySecond * 2 ** (failures - 1), longestWait)));
    } finally {
      clearTimeout(lateTimer);
      if (pending === own) pending = undefined;
    }
  }

  const pause = () => {
    clearTimeout(timer);
    pending?.abort();
    pending = undefined;
  };
  const onVisibility = () => (document.visibilityState === 'visible' ? schedule(untilNext()) : pause());
  const onOnline = () => {
    if (!pending) schedule(untilNext());
  };
  const onOffline = () => onStatus('lost');
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  addEventListener('offline', onOffline);
  schedule(interval);
  return () => {
    pause();
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    removeEventListener('offline', onOffline);
  };
}
