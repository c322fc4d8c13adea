export class TimedOut extends Error {}

/**
 * The promise's own result, or TimedOut after that many milliseconds; the work itself goes on. A process that stood
 * still itself for that long first reads what came meanwhile: its own pause is nobody's silence.
 */
export function within<T>(milliseconds: number, promise: Promise<T>, onTimeout?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // timers run before sockets are read, immediates after
      late = setImmediate(() => {
        onTimeout?.();
        reject(new TimedOut(`no answer within ${milliseconds} ms`));
      });
    }, milliseconds);
    const settle =
      <Value>(how: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        clearImmediate(late);
        how(value);
      };
    promise.then(settle(resolve), settle(reject));
  });
}
