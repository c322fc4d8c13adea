/**
 * Entry of assent-extras.js, the third file: what few sites set, and has to be known before the first view. It is part of a
 * published script whose settings need it, and is loaded for all others (need-extras.ts).
 */
import { attempt } from '#libs/widget/attempt';
import { vary } from './experiment.ts';
import type { FileElement } from './load-file.ts';
import { page } from './page.ts';
import type { Parts } from './place/parts.ts';
import { locate } from './place/place.ts';
import { colour } from './view/styles.ts';

/** Calls `begin` once the settings are those of the visitor's place and variant. */
async function prepare(parts: Parts, begin: () => void): Promise<void> {
  const { settings, store, view } = parts;
  await locate(parts);
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
