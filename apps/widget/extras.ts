/**
 * Entry of assent-extras.js, the third file: what few sites set, and has to be known before the first view. It is part of a
 * published script whose settings need it, and is loaded for all others (need-extras.ts).
 */
import { vary } from './experiment.ts';
import type { FileElement } from './load-file.ts';
import { page } from './page.ts';

const extras = { vary };
export type Extras = typeof extras;

const script: FileElement<Extras> | null = page.currentScript;
if (script) script.file = extras;
