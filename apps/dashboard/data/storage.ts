/** The storage of this tab. Where the browser blocks it, the session lasts until the page is left. */
export function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
