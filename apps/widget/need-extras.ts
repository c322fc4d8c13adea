/** Gets the third file, which the first view waits for. */
import { either } from '#libs/widget/attempt';
import type { Extras } from './extras.ts';
import { type FileElement, loadFile } from './load-file.ts';
import { page } from './page.ts';
import type { Settings } from './settings.ts';

/** Milliseconds that the first view waits. */
const patience = 1_000;

/** Calls `begin` once: at once where the file is part of this script, else when it comes; without it where it does not. */
export function needExtras(settings: Settings, begin: (extras?: Extras) => void): void {
  let once = (extras?: Extras) => {
    once = () => {};
    begin(extras);
  };
  const running: FileElement<Extras> | null = page.currentScript;
  if (running?.file) once(running.file);
  else {
    setTimeout(() => once(), patience);
    either(() =>
      loadFile(__THIRD_FILE__, __THIRD_INTEGRITY__, settings, page.documentElement, (file?: Extras) => once(file)),
    );
  }
}
