/** An outage makes the same error many times a second; one line is enough. */

interface ToldOnce {
  /** Tells it, unless it is the one before. */
  tell(error: Error): void;
  /** Once all is well: the next one is told again. */
  forget(): void;
}

export function toldOnce(tell: (error: Error, reason: string) => void): ToldOnce {
  let last = '';
  return {
    tell: (error) => {
      const reason = error.message || error.name;
      if (reason === last) return;
      last = reason;
      tell(error, reason);
    },
    forget: () => {
      last = '';
    },
  };
}
