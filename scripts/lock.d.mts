export function takeLock(folder: string): (() => void) | undefined;
export function waitForLock(
  folder: string,
  options?: { say?: () => void; signal?: AbortSignal | undefined },
): Promise<() => void>;
