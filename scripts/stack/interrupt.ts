/** A terminal and npm may both pass on one Ctrl-C; only a signal after this many milliseconds is a second one. */
const oneCtrlC = 1_000;

interface Started {
  stop(): Promise<void>;
}

/** Once we are asked to end, stops what was started, also what is starting still, and ends. */
export function stopAtInterrupt<Stack extends Started>(signal: AbortSignal, starting: Promise<Stack>): Promise<Stack> {
  signal.addEventListener('abort', () => void starting.then(({ stop }) => stop()).finally(() => process.exit(130)));
  return starting;
}

/** Aborts at the first signal that asks us to end; `again` answers a second one, by default without any clean-up. */
export function onInterrupt(again: () => void = () => process.exit(130)): AbortSignal {
  const controller = new AbortController();
  let abortedAt = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        abortedAt = performance.now();
        console.log('\nstopping …');
        controller.abort(new Error('interrupted'));
      } else if (performance.now() - abortedAt > oneCtrlC) again();
    });
  }
  return controller.signal;
}
