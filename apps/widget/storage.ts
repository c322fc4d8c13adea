/** Stores texts by name in localStorage, or in memory where the browser refuses that. */
import { orElse } from '#libs/widget/attempt';
import { own, slice } from '#libs/widget/tamper-proof';

interface Storage {
  get(name: string): string | null;
  /** Returns whether the text outlives this page. */
  set(name: string, text: string): boolean;
  remove(name: string): void;
  names(): string[];
}

export function openStorage(prefix: string): Storage {
  const memory = own<string>();
  /** If storage is blocked, even reading the property throws. */
  const onDisk = <Result>(work: (disk: globalThis.Storage) => Result): Result | undefined =>
    orElse(() => work(localStorage));
  return {
    get: (name) => memory[name] ?? onDisk((disk) => disk.getItem(prefix + name)) ?? null,
    set: (name, text) => {
      memory[name] = text;
      // it stays in memory if this throws, as in private mode or without quota
      onDisk((disk) => {
        disk.setItem(prefix + name, text);
        delete memory[name];
      });
      return memory[name] === undefined;
    },
    remove: (name) => {
      delete memory[name];
      onDisk((disk) => disk.removeItem(prefix + name));
    },
    names: () => {
      const found: string[] = [];
      onDisk((disk) => {
        // `for … in` also lists the storage's methods, whose names do not begin with the prefix
        for (const key in disk)
          if (slice(key, 0, prefix.length) === prefix) found[found.length] = slice(key, prefix.length);
      });
      for (const name in memory) found[found.length] = name;
      return found;
    },
  };
}
