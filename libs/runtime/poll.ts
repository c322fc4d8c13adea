/** A question that is asked again and again, some time after each answer. */

export interface Poll {
  /** Resolves after the first answer, or failure. */
  start(): Promise<void>;
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
  const again = async () => {
    try {
      await ask();
      isAnswered = true;
    } catch (error) {
      if (isAnswered) failed(error);
      isAnswered = false;
    }
    if (!isStopped) timer = setTimeout(again, every);
  };
  return {
    start: again,
    isAnswered: () => isAnswered,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
