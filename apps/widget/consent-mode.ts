/** Entry of consent-mode.js: denies everything optional by default, before any other tag of the page runs. */
import { consentTypes, denyByDefault, hasDefault } from './consent-types.ts';
import { page } from './page.ts';

/** Milliseconds that Google's tags wait for the widget, which knows an earlier choice. */
const wait = +(page.currentScript?.dataset.wait ?? 500);

if (!hasDefault()) denyByDefault(consentTypes, wait);
