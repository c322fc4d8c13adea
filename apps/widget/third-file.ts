/**
 * Gets the third file (`extras.ts`). On pages that need it, nothing begins (no banner, no `ready`, no scripts) until it has
 * come or a second has passed.
 */
import { orElse } from '#libs/widget/attempt';
import type { Prepare } from './extras.ts';
import { type FileElement, loadFile } from './load-file.ts';
import { page } from './page.ts';
import type { Settings } from './settings.ts';
import { withTimeout } from './with-timeout.ts';

/** Milliseconds that the widget waits for it. */
const patience = 1_000;

/** Calls `use` once: now if the file is part of this script, otherwise when it comes, or without it after a second. */
export function withThirdFile(settings: Settings, use: (prepare?: Prepare) => void): void {
  const running: FileElement<Prepare> | null = page.currentScript;
  if (running?.file) use(running.file);
  else {
    const arrived = withTimeout(patience, use);
    orElse(() => loadFile(__THIRD_FILE__, __THIRD_INTEGRITY__, settings, page.documentElement, arrived));
  }
}
