// the root tsconfig, which checks this file too, has no DOM types
declare function reportError(error: unknown): void;

/** Runs `work` so that its failure does not stop the rest. The error is reported like an uncaught one. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    reportError(error);
    return undefined;
  }
}

export const warn = (text: string): void => console.warn(`assent: ${text}`);

/** The result of `work`, or `otherwise` if it throws: the page may have broken a built-in that it calls. */
export function orElse<Result>(work: () => Result, otherwise: Result): Result;
export function orElse<Result>(work: () => Result): Result | undefined;
export function orElse<Result>(work: () => Result, otherwise?: Result): Result | undefined {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
