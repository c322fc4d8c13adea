/** Entry of consent-mode.js: denies everything optional by default. Its tag precedes all others. */
import { consentTypes, denyByDefault, hasDefault, nameLayer } from './consent-types.ts';
import { assigned, page } from './page.ts';

/** Milliseconds that Google's tags wait for the widget, which may have a stored choice. */
const patience = 500;

const { wait, layer } = page.currentScript?.dataset ?? {};
nameLayer(layer || assigned('assentConfig')?.layer);

if (!hasDefault()) denyByDefault(consentTypes, +(wait ?? patience));
