/** Loads the second file when the browser is idle, or earlier if it is needed. */
import { attempt } from '#libs/widget/attempt';
import { map } from '#libs/widget/tamper-proof';
import { isChecking } from './check/is-checking.ts';
import { loadFile } from './load-file.ts';
import { page } from './page.ts';
import type { SecondFile } from './preferences.ts';
import type { Settings } from './settings.ts';

/** Milliseconds until the visitor reads that the settings could not be loaded. */
const patience = 5_000;
/** Milliseconds: a busy browser may postpone the file this long. */
const longestIdle = 2_000;

/**
 * `home`: the element below which its script runs. `onArrival` is called once. Returns a function that loads the file; it
 * resolves to undefined if the file is blocked or takes too long. Each call tries again, and none rejects.
 */
export function openSecondFile(
  settings: Pick<Settings, 'api' | 'nonce'>,
  home: Element,
  onArrival: (file: SecondFile) => void,
): () => Promise<SecondFile | undefined> {
  const waiting: (() => void)[] = [];
  /**
   * The root element in which the file is loading; undefined while it is not. `document.open` replaces the root and removes
   * the script's listeners, so the file is then loaded again.
   */
  let coming: Element | undefined;
  let found: SecondFile | undefined;

  const load = async () => {
    try {
      await new Promise<void>((resolve) => {
        if (found) return resolve();
        waiting[waiting.length] = resolve;
        setTimeout(resolve, patience);
        const { documentElement } = page;
        if (coming === documentElement) return;
        loadFile<SecondFile>(__SECOND_FILE__, __SECOND_INTEGRITY__, settings, home, (file) => {
          found = file;
          coming = undefined;
          if (file) attempt(() => onArrival(file));
          map(waiting, (done) => done());
        });
        coming = documentElement;
      });
    } catch {
      // the visitor can decide in the first view
    }
    return found;
  };
  // at once in a site check, and in browsers without idle callbacks, such as Safari
  if (isChecking()) void load();
  ((window.requestIdleCallback ?? setTimeout) as typeof requestIdleCallback)(load, { timeout: longestIdle });
  return load;
}
