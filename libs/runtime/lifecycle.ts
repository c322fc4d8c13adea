/** Ordered shutdown with a deadline: the one way in which a process ends. */
import type { Log } from './log.ts';

export interface Step {
  name: string;
  stop: () => Promise<unknown> | unknown;
}

export interface Lifecycle {
  /** Steps run in the order given, each after the one before. */
  onStop(steps: Step[]): void;
  stop(reason: string): Promise<void>;
}

/**
 * Stops on SIGTERM and SIGINT (a second signal is ignored: a terminal and npm may both send one) and on uncaught errors.
 * The exit code is 0 if all steps succeeded in time, else 1.
 */
export function createLifecycle(options: {
  /** milliseconds for all steps together */
  deadline: number;
  /** Repairs the damage of an uncaught error and says whether the process can go on. Default: it cannot. */
  recover?: (error: unknown) => boolean;
  log: Pick<Log, 'info' | 'error'>;
}): Lifecycle {
  let steps: Step[] = [];
  let stopping: Promise<void> | undefined;

  const run = async (reason: string, failed: boolean) => {
    options.log.info({ event: 'stopping', reason }, 'stopping');
    let exitCode = failed ? 1 : 0;
    const deadline = setTimeout(() => {
      options.log.error({ deadline: options.deadline }, 'did not stop in time');
      process.exit(1);
    }, options.deadline);
    for (const step of steps) {
      try {
        await step.stop();
      } catch (error) {
        exitCode = 1;
        options.log.error({ err: error, step: step.name }, 'a shutdown step failed');
      }
    }
    clearTimeout(deadline);
    options.log.info({}, 'stopped');
    process.exit(exitCode);
  };

  const stop = (reason: string, failed = false) => {
    stopping ??= run(reason, failed);
    return stopping;
  };

  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  process.on('uncaughtException', (error) => {
    const goesOn = options.recover?.(error) ?? false;
    options.log.error({ err: error, goesOn }, 'uncaught error');
    if (!goesOn) void stop('uncaught error', true);
  });
  process.on('unhandledRejection', (error) => {
    options.log.error({ err: error }, 'unhandled rejection');
    void stop('unhandled rejection', true);
  });

  return {
    onStop: (given) => {
      steps = given;
    },
    stop: (reason) => stop(reason),
  };
}
