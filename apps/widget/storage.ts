/** Stores texts by name in localStorage, or in memory where the browser refuses that. */
export interface Storage {
  get(name: string): string | null;
  set(name: string, text: string): void;
  remove(name: string): void;
  names(): string[];
}

export function openStorage(prefix: string): Storage {
  const memory = new Map<string, string>();
  const disk = localStorageIfAllowed();
  return {
    get: (name) => memory.get(name) ?? disk?.getItem(prefix + name) ?? null,
    set: (name, text) => {
      try {
        if (!disk) throw disk;
        disk.setItem(prefix + name, text);
        memory.delete(name);
      } catch {
        // private mode, or the quota is used up
        memory.set(name, text);
      }
    },
    remove: (name) => {
      memory.delete(name);
      disk?.removeItem(prefix + name);
    },
    names: () => [
      ...Object.keys(disk ?? {}).flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])),
      ...memory.keys(),
    ],
  };
}

/** Where storage is blocked, even reading the property throws. */
function localStorageIfAllowed() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
