/** How a process ends: step by step, within a deadline. */
import type { Log } from './ops/process-log.ts';

interface ShutdownStep {
  name: string;
  stop: () => Promise<unknown> | unknown;
}

/** The parts of a running process; a test runs several in one process. */
export interface Running {
  /** Resolves to whether everything stopped without an error. A second call gets the first result. */
  stop(): Promise<boolean>;
  /** Repairs the damage of an uncaught error. Returns whether the process can continue. */
  recover(error: unknown): boolean;
  /** Rejects once the process cannot continue, with the reason in one line. */
  failing?: Promise<unknown>;
}

/** Milliseconds after which a step that still runs is logged. */
const long = 3_000;

/** Runs the steps one after another. One that fails is logged, and the others still run. */
export function inOrder(steps: ShutdownStep[], log: Pick<Log, 'info' | 'error'>): () => Promise<boolean> {
  let stopping: Promise<boolean> | undefined;
  const run = async () => {
    let succeeded = true;
    for (const { name, stop } of steps) {
      const goesOn = setTimeout(() => log.info({ step: name }, 'still stopping'), long);
      try {
        await stop();
      } catch (error) {
        succeeded = false;
        log.error({ err: error, step: name }, 'a shutdown step failed');
      }
      clearTimeout(goesOn);
    }
    return succeeded;
  };
  return () => {
    stopping ??= run();
    return stopping;
  };
}

/**
 * Ends this process on SIGTERM, SIGINT and uncaught errors, once `opening` has opened. A second signal is ignored, since a
 * terminal and npm may both send one. The exit code is 0 if everything stopped in time without an error, else 1.
 * `deadline`: milliseconds. Resolves with what has opened.
 */
export async function endOnSignals<T extends Running>(
  opening: Promise<T>,
  { deadline, log }: { deadline: number; log: Pick<Log, 'info' | 'error'> },
): Promise<T> {
  let running: T | undefined;
  let stopping = false;

  const stop = async (reason: string, failed = false) => {
    if (stopping) return;
    stopping = true;
    log.info({ event: 'stopping', reason }, 'stopping');
    setTimeout(() => {
      log.error({ deadline }, 'did not stop in time');
      process.exit(1);
    }, deadline);
    const succeeded = await opening.then(
      (opened) => opened.stop(),
      () => false,
    );
    log.info({}, 'stopped');
    process.exit(succeeded && !failed ? 0 : 1);
  };

  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  process.on('uncaughtException', (error) => {
    const goesOn = running?.recover(error) ?? false;
    log.error({ err: error, goesOn }, 'uncaught error');
    if (!goesOn) void stop('uncaught error', true);
  });
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'unhandled rejection');
    void stop('unhandled rejection', true);
  });

  running = await opening;
  running.failing?.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${reason}\n`);
    void stop(reason, true);
  });
  return running;
}
