/** Loads the second file, when the browser is idle or when its contents are called for. */
import { attempt } from '#libs/widget/attempt';
import { map } from '#libs/widget/tamper-proof';
import { isChecking } from './check/is-checking.ts';
import { loadFile } from './load-file.ts';
import { page } from './page.ts';
import type { SecondFile } from './preferences.ts';
import type { Settings } from './settings.ts';

/** Milliseconds until a visitor is told that it does not come. */
const patience = 5_000;
/** Milliseconds that a busy browser may put it off. */
const longestIdle = 2_000;

/**
 * `home`: the element below which its script runs. `onArrival` is called once. What it returns loads the file: undefined where
 * it is missing or blocked, and after a while where it is slow. Each call tries again, and none throws.
 */
export function openSecondFile(
  settings: Pick<Settings, 'api' | 'nonce'>,
  home: Element,
  onArrival: (file: SecondFile) => void,
): () => Promise<SecondFile | undefined> {
  const waiting: (() => void)[] = [];
  /** The page that its script is in: `document.open` removes what tells that it has come. */
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
      // the visitor decides without it
    }
    return found;
  };
  // where a browser has no idle callbacks, as Safari had not, it comes at once; and so it does where the site is checked
  if (isChecking()) void load();
  ((window.requestIdleCallback ?? setTimeout) as typeof requestIdleCallback)(load, { timeout: longestIdle });
  return load;
}
