/**
 * Entry of assent-preferences.js, the second file: the settings, which most visitors never open, and placeholders. It runs
 * as an element of widget.js (second-file.ts), and leaves there what it has.
 */
import { forgetCookies } from './forget-cookies.ts';
import { page } from './page.ts';
import { createPlaceholders } from './placeholders.ts';
import css from './view/preferences.css?inline';
import { preferences } from './view/preferences.ts';
import { renew } from './view/renew.ts';
import { makeRoom } from './view/room.ts';
import { insertWritten } from './written.ts';

const secondFile = { css, preferences, createPlaceholders, forgetCookies, renew, makeRoom, insertWritten };
export type SecondFile = typeof secondFile;

const script: (HTMLOrSVGScriptElement & { secondFile?: SecondFile }) | null = page.currentScript;
if (script) script.secondFile = secondFile;
