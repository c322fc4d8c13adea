/** Loads the fourth file, only in a tab that checks the site. */
import { loadFile } from '../load-file.ts';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import { isChecking } from './is-checking.ts';
import type { Check } from './main.ts';

export function loadCheck(settings: Settings): void {
  let isLoaded = false;
  const load = () => {
    if (isLoaded || !isChecking()) return;
    isLoaded = true;
    loadFile<Check>(__FOURTH_FILE__, __FOURTH_INTEGRITY__, settings, page.documentElement, (check) =>
      check?.(settings),
    );
  };
  load();
  // the link may be opened in a tab that shows the page already
  addEventListener('hashchange', load);
}
