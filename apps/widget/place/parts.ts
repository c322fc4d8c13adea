/** The parts of the widget that the third file needs. */
import type { openConsent } from '../consent.ts';
import type { Settings } from '../settings.ts';
import type { View } from '../view/view.ts';

export interface Parts {
  settings: Settings;
  store: ReturnType<typeof openConsent>;
  view: View;
  decide(choice: false, source: 'gpc'): void;
}
