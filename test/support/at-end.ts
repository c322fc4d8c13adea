/**
 * What a file started ends with the file, also what was started in a hook or a test: there vitest's own `afterAll` is
 * not heard. The worker goes on with the next file, so that nothing may be left to the end of its process.
 */
const pending: (() => unknown)[] = [];

/** Calls `work` after the file's last test; what was registered last goes first. */
export function atEnd(work: () => unknown): void {
  pending.push(work);
}

/** What fails keeps nothing else from its end: it would run on beside the next files. */
export async function endAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const work of pending.splice(0).reverse()) {
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'what the file started did not end well');
}

// a run that is ended leaves no worker and no browser behind
process.once('disconnect', () => process.exit(1));
