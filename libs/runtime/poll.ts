/** A question that is asked again and again, some time after each answer. */

export interface Poll {
  /** Resolves after the first answer, or failure. */
  start(): Promise<void>;
  /** Asks once more without waiting for its time; resolves after the answer, or failure. */
  askNow(): Promise<void>;
  stop(): void;
  /** Whether the last one was answered. */
  isAnswered(): boolean;
}

/** `every`: milliseconds. `failed` is called once for each outage. */
export function createPoll({
  every,
  ask,
  failed,
}: {
  every: number;
  ask: () => Promise<void>;
  failed: (error: unknown) => void;
}): Poll {
  let isAnswered = true;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let last = Promise.resolve();
  const askOnce = async () => {
    try {
      await ask();
      isAnswered = true;
    } catch (error) {
      if (isAnswered) failed(error);
      isAnswered = false;
    }
  };
  const askNow = () => {
    last = last.then(askOnce);
    return last;
  };
  const again = async () => {
    await askNow();
    if (!isStopped) timer = setTimeout(again, every);
  };
  return {
    start: again,
    askNow,
    isAnswered: () => isAnswered,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
