export class TimedOut extends Error {}

/** The promise's own result, or TimedOut after that many milliseconds; the work itself goes on. */
export function within<T>(milliseconds: number, promise: Promise<T>, onTimeout?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onTimeout?.();
      reject(new TimedOut(`no answer within ${milliseconds} ms`));
    }, milliseconds);
    const settle =
      <Value>(how: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        how(value);
      };
    promise.then(settle(resolve), settle(reject));
  });
}
