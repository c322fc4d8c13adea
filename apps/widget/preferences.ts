/**
 * Entry of assent-preferences.js, the second file: the settings, which most visitors never open. It runs as an element of
 * widget.js (second-file.ts), and leaves there what it has.
 */
import { page } from './page.ts';
import css from './view/preferences.css?inline';
import { preferences } from './view/preferences.ts';

const secondFile = { css, preferences };
export type SecondFile = typeof secondFile;

Object.assign(page.currentScript ?? {}, { secondFile });
