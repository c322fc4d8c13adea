// the drills, which wait as the widget does, are checked without a browser's types
declare function reportError(error: unknown): void;

/** Runs one part so that its failure does not stop the others. The error is reported like an uncaught one. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    reportError(error);
    return undefined;
  }
}

export const warn = (text: string): void => console.warn(`assent: ${text}`);

/** What `work` returns, or `otherwise` where it throws, as a built-in does that the page has spoilt. */
export function either<Result>(work: () => Result, otherwise: Result): Result;
export function either<Result>(work: () => Result): Result | undefined;
export function either<Result>(work: () => Result, otherwise?: Result): Result | undefined {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
