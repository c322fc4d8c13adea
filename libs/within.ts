export class TimedOut extends Error {}

/** The promise's own result, or TimedOut after that many milliseconds; the work itself goes on. */
export function within<T>(milliseconds: number, promise: Promise<T>, onTimeout?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onTimeout?.();
      reject(new TimedOut(`no answer within ${milliseconds} ms`));
    }, milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
