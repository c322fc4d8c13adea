/** A poll that lives as long as the view that uses it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Poll, type PollStatus, startPoll } from './poll.ts';

export interface LiveState {
  status: PollStatus;
  /** Unix milliseconds of the last answer */
  updatedAt: number;
}

/** Polls while `key` is not null, and starts over when it changes. The callbacks may change on every render. */
export function useLive<Answer>(
  key: string | null,
  callbacks: Pick<Poll<Answer>, 'ask' | 'onAnswer' | 'interval'>,
): LiveState | null {
  const updatedAt = useRef(Date.now());
  const [state, setState] = useState<LiveState>({ status: 'waiting', updatedAt: updatedAt.current });
  const latest = useRef(callbacks);
  latest.current = callbacks;
  useEffect(() => {
    if (key === null) return undefined;
    return startPoll<Answer>({
      ask: (signal) => latest.current.ask(signal),
      onAnswer: (answer) => latest.current.onAnswer(answer),
      interval: latest.current.interval,
      onStatus: (status) => {
        if (status === 'live') updatedAt.current = Date.now();
        // no render every second while the status stays the same
        setState((before) => (before.status === status ? before : { status, updatedAt: updatedAt.current }));
      },
    });
  }, [key]);
  return key === null ? null : state;
}
