/** Reports to the service that the banner was shown, once the page is visible. A failed report is not retried. */
import { json } from './json.ts';
import { page } from './page.ts';
import { openPauses } from './pauses.ts';
import { quietly } from './send.ts';
import type { Settings } from './settings.ts';

/** `isShown`: whether the banner is still open when a page that was opened in the background becomes visible. */
export function reportDisplay(settings: Settings, isShown: () => boolean): void {
  if (page.hidden) {
    const again = () => reportDisplay(settings, isShown);
    page.addEventListener('visibilitychange', again, { once: true });
    return;
  }
  const pauses = openPauses(settings);
  if (!isShown() || pauses.retryAfter() || pauses.refusal()) return;
  const { bannerVersion, variant } = settings;
  const { language } = settings.wording;
  void quietly(settings, 'POST', 'displays', json({ bannerVersion, variant, language }));
}
