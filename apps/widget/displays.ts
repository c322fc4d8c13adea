/** Counts that the banner was shown, once it can be seen. A failure is nobody's concern, so nothing is tried again. */
import { json } from './json.ts';
import { page } from './page.ts';
import { quietly, type Target } from './send.ts';
import { openWaits } from './waits.ts';

interface Display {
  bannerVersion: string;
  variant: string | undefined;
  language: string;
}

/** `isShown`: whether it still is once a page that was opened in the background is looked at. */
export function countDisplay(target: Target, display: Display, isShown: () => boolean): void {
  if (page.hidden) {
    const again = () => countDisplay(target, display, isShown);
    page.addEventListener('visibilitychange', again, { once: true });
    return;
  }
  const waits = openWaits(target);
  if (!isShown() || waits.retryAfter() || waits.refusal()) return;
  void quietly(target, 'POST', 'displays', json(display));
}
