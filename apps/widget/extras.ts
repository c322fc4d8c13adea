/**
 * Entry of assent-extras.js, the third file: rules for places and experiments, which few sites have. Where a page needs it,
 * the widget begins only once it is here, or after a second without it. A published script contains this file if its
 * settings need it; other pages load it (third-file.ts).
 */
import { attempt } from '#libs/widget/attempt';
import { vary } from './experiment.ts';
import type { FileElement } from './load-file.ts';
import { page } from './page.ts';
import type { Parts } from './place/parts.ts';
import { applyPlace } from './place/place.ts';
import { colour } from './view/styles.ts';

/** Sets the settings of the visitor's place and variant, then calls `begin`. */
async function prepare(parts: Parts, begin: () => void): Promise<void> {
  const { settings, store, view } = parts;
  await applyPlace(parts);
  attempt(() => {
    if (store.current(settings) ?? settings.unasked) return;
    vary(settings);
    colour(view.host, settings.colors);
    const button = view.host.shadowRoot?.querySelector('button');
    if (button && settings.button) button.className = `reopen ${settings.button}`;
  });
  begin();
}
export type Prepare = typeof prepare;

const script: FileElement<Prepare> | null = page.currentScript;
if (script) script.file = prepare;
