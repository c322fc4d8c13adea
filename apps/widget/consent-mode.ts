/** Entry of consent-mode.js: denies everything optional by default, before any other tag of the page runs. */
import { consentTypes, denyByDefault, hasDefault, nameLayer } from './consent-types.ts';
import { assigned, page } from './page.ts';

/** Milliseconds that Google's tags wait for the widget, which knows an earlier choice. */
const patience = 500;

const { wait, layer } = page.currentScript?.dataset ?? {};
nameLayer(layer || assigned('assentConfig')?.layer);

if (!hasDefault()) denyByDefault(consentTypes, +(wait ?? patience));
