/** Runs one part so that its failure does not stop the others. The error is reported like an uncaught one. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    reportError(error);
    return undefined;
  }
}
