/** The storage of this tab. If the browser blocks it, the session ends when the page is left. */
export function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
