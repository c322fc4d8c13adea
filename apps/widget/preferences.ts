/**
 * Entry of assent-preferences.js, the second file: the settings, which most visitors never open, placeholders and cookie
 * tables. widget.js inserts its script element (second-file.ts) and reads the exports from it.
 */
import { orElse } from '#libs/widget/attempt';
import { loadCheck } from './check/load-check.ts';
import { createCookieTables } from './cookie-tables.ts';
import { insertDocumentWrites } from './document-write.ts';
import type { Waiting } from './embeds.ts';
import { forgetCookies } from './forget-cookies.ts';
import type { FileElement } from './load-file.ts';
import { page } from './page.ts';
import { createPlaceholders, type PlaceholderOptions } from './placeholders.ts';
import edges from './view/edges.css?inline';
import css from './view/preferences.css?inline';
import { preferences } from './view/preferences.ts';
import { renew } from './view/renew.ts';
import { makeRoom } from './view/room.ts';
import { warnOfSettings } from './warnings.ts';

/** The widget's content outside its own views. */
function openInserts(options: PlaceholderOptions) {
  const placeholders = createPlaceholders(options);
  const fillTables = createCookieTables(options.settings);
  orElse(() => warnOfSettings(options.settings.asked));
  orElse(() => loadCheck(options.settings));
  return {
    show: (waiting: Waiting[]) => {
      placeholders.show(waiting);
      fillTables();
    },
    clear: placeholders.clear,
  };
}

const secondFile = { css: css + edges, preferences, openInserts, forgetCookies, renew, makeRoom, insertDocumentWrites };
export type SecondFile = typeof secondFile;

const script: FileElement<SecondFile> | null = page.currentScript;
if (script) script.file = secondFile;
