/**
 * Counters that move: a poll, at most once a second, one at a time, and only while somebody can see the page.
 *
 * Why a poll and no stream of events: it is stateless, so it works behind every proxy, with any number of API processes
 * and with a token that expires; the service gives up no connection for an open tab; and an answer is the whole truth of
 * its moment, so nothing is ever missed or has to be replayed. One question costs the service one Redis script, and on
 * the home page also two short reads of Postgres.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Trouble } from './api.ts';

/** Milliseconds between two questions. */
const everySecond = 1_000;
/** An answer that takes longer is one of a busy service: it is asked less often, by this factor of the time it took. */
const slowAnswer = 500;
const restAfterSlow = 4;
/** Milliseconds after which nobody should take the figures for live ones. */
const late = 3_000;
/** Milliseconds between questions that fail again and again. */
const longest = 15_000;

export type LiveStatus = 'waiting' | 'live' | 'late' | 'lost';
export interface LiveState {
  status: LiveStatus;
  /** Unix milliseconds of the last answer */
  heardAt: number;
}

export interface Question<Answer> {
  ask(signal: AbortSignal): Promise<Answer>;
  onAnswer(answer: Answer): void;
  onState(status: LiveStatus): void;
}

/** Returns what ends it. */
export function follow<Answer>({ ask, onAnswer, onState }: Question<Answer>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flight: AbortController | undefined;
  let startedAt = performance.now();
  let failures = 0;

  const schedule = (wait: number) => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') timer = setTimeout(run, wait);
  };
  const soonest = () => Math.max(0, startedAt + everySecond - performance.now());

  async function run() {
    const own = new AbortController();
    flight = own;
    startedAt = performance.now();
    const lateness = setTimeout(() => {
      if (!own.signal.aborted && failures === 0) onState('late');
    }, late);
    try {
      const answer = await ask(own.signal);
      if (own.signal.aborted) return;
      failures = 0;
      onState('live');
      onAnswer(answer);
      const took = performance.now() - startedAt;
      schedule(took > slowAnswer ? Math.min(took * restAfterSlow, longest) : soonest());
    } catch (error) {
      if (own.signal.aborted) return;
      failures += 1;
      onState('lost');
      const asked = error instanceof Trouble ? (error.retryAfter ?? 0) * 1_000 : 0;
      schedule(Math.max(asked, Math.min(everySecond * 2 ** (failures - 1), longest)));
    } finally {
      clearTimeout(lateness);
      if (flight === own) flight = undefined;
    }
  }

  const pause = () => {
    clearTimeout(timer);
    flight?.abort();
    flight = undefined;
  };
  const onVisibility = () => (document.visibilityState === 'visible' ? schedule(soonest()) : pause());
  const onOnline = () => {
    if (!flight) schedule(soonest());
  };
  const onOffline = () => onState('lost');
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  addEventListener('offline', onOffline);
  schedule(everySecond);
  return () => {
    pause();
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    removeEventListener('offline', onOffline);
  };
}

/** Follows while `key` is not null, anew with each key. What it calls may change at any time. */
export function useLive<Answer>(
  key: string | null,
  question: Pick<Question<Answer>, 'ask' | 'onAnswer'>,
): LiveState | null {
  const heardAt = useRef(Date.now());
  const [state, setState] = useState<LiveState>({ status: 'waiting', heardAt: heardAt.current });
  const latest = useRef(question);
  latest.current = question;
  useEffect(() => {
    if (key === null) return undefined;
    return follow<Answer>({
      ask: (signal) => latest.current.ask(signal),
      onAnswer: (answer) => latest.current.onAnswer(answer),
      onState: (status) => {
        if (status === 'live') heardAt.current = Date.now();
        // who only wants to know whether it is live is not told each second
        setState((before) => (before.status === status ? before : { status, heardAt: heardAt.current }));
      },
    });
  }, [key]);
  return key === null ? null : state;
}
