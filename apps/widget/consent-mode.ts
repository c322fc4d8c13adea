/** Entry of consent-mode.js: before any other tag of a page runs, everything optional counts as denied. */
import { consentTypes, denyByDefault, hasDefault } from './consent-types.ts';

/** Milliseconds that Google's tags wait for the widget, which knows what the visitor decided before. */
const wait = Number(document.currentScript?.dataset.wait ?? 500);

if (!hasDefault()) denyByDefault(consentTypes, wait);
