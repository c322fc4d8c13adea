/** Loads the fourth file in a tab that checks the site, and for nobody else. */
import { loadFile } from '../load-file.ts';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import { isChecking } from './is-checking.ts';
import type { Check } from './main.ts';

export function loadCheck(settings: Settings): void {
  if (isChecking())
    loadFile<Check>(__FOURTH_FILE__, __FOURTH_INTEGRITY__, settings, page.documentElement, (check) =>
      check?.(settings),
    );
}
