/** Gets the third file, which the first view waits for. */
import { either } from '#libs/widget/attempt';
import type { Prepare } from './extras.ts';
import { type FileElement, loadFile } from './load-file.ts';
import { onceWithin } from './once-within.ts';
import { page } from './page.ts';
import type { Settings } from './settings.ts';

/** Milliseconds that the first view waits. */
const patience = 1_000;

/** Calls `use` once: at once where the file is part of this script, else when it comes; without it where it does not. */
export function needExtras(settings: Settings, use: (prepare?: Prepare) => void): void {
  const running: FileElement<Prepare> | null = page.currentScript;
  if (running?.file) use(running.file);
  else {
    const arrived = onceWithin(patience, use);
    either(() => loadFile(__THIRD_FILE__, __THIRD_INTEGRITY__, settings, page.documentElement, arrived));
  }
}
