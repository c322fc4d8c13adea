// rehearsals import the widget's backoff, and are checked without a browser's types
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

/** The result of `work`, or `otherwise` if it throws, as a built-in does that the page has broken. */
export function either<Result>(work: () => Result, otherwise: Result): Result;
export function either<Result>(work: () => Result): Result | undefined;
export function either<Result>(work: () => Result, otherwise?: Result): Result | undefined {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
