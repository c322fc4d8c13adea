/** The widget's texts in the languages that are files, for processes. */
import { readFileSync } from 'node:fs';
import { packs } from './languages.ts';

let all: Map<string, Record<string, string>> | undefined;

/** By the languages' tags; without English. */
export function languageTexts(): ReadonlyMap<string, Record<string, string>> {
  all ??= new Map(
    packs.map((tag) => [tag, JSON.parse(readFileSync(new URL(`languages/${tag}.json`, import.meta.url), 'utf8'))]),
  );
  return all;
}
