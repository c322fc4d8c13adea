/** One part that fails stops no other: its error goes where uncaught ones go. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    reportError(error);
    return undefined;
  }
}
