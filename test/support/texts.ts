/** The widget's own texts by language, as its files have them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { furtherPhrases, phrases, placePhrases } from '#libs/widget/texts';
import { root } from '../../scripts/stack/paths.ts';

export const english: Record<string, string> = { ...phrases, ...placePhrases, ...furtherPhrases };

export const textsIn = (language: string): Record<string, string> =>
  language === 'en'
    ? english
    : JSON.parse(readFileSync(path.join(root, `libs/widget/languages/${language}.json`), 'utf8'));
