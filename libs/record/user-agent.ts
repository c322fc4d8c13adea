/** What a user agent's text tells of a browser. */
import { BROWSER_MAP, parse } from 'bowser';
import { isbot } from 'isbot';

export interface Look {
  crawler: boolean;
  /** null: the text does not tell */
  device: string | null;
  browser: string | null;
  system: string | null;
}

const browsers: ReadonlySet<string> = new Set(Object.values(BROWSER_MAP));

/** Takes some 30 µs, most of it for the browser. */
export function lookAt(text: string): Look {
  const { browser, os, platform } = read(text) ?? {};
  return {
    crawler: isbot(text),
    device: platform?.type ?? null,
    // of what it does not know, bowser makes a name
    browser: browser?.name !== undefined && browsers.has(browser.name) ? browser.name : null,
    system: os?.name ?? null,
  };
}

/** A browser's, or one that calls itself a crawler or has an address to ask. */
const namesItself = /^Mozilla\/|bot|crawl|spider|https?:|@/i;

/**
 * Whether it is a library that an app or a server sends requests with, such as okhttp, CFNetwork or Dart. For isbot some
 * are programs and some are not; what records for an app (source `api`) is none, whichever it uses.
 */
export const isLibrary = (text: string): boolean => !namesItself.test(text);

/** Bowser throws on an empty text. Whatever else it may not like costs no record. */
function read(text: string) {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** The first whose mark a text has: Edge also calls itself Chrome, and Chrome Safari. The names are bowser's. */
const browserFamilies = [
  [/\bEdg(?:e|A|iOS)?\//, 'Microsoft Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet for Android'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systemFamilies = [
  [/Windows/, 'Windows'],
  [/Android/, 'Android'],
  [/\biP(?:hone|ad|od)/, 'iOS'],
  [/\bCrOS\b/, 'Chrome OS'],
  [/Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

const first = (families: readonly (readonly [RegExp, string])[], text: string): string | null =>
  families.find(([mark]) => mark.test(text))?.[1] ?? null;

function deviceOf(text: string, system: string | null): string | null {
  if (/\biPad|\bTablet/.test(text)) return 'tablet';
  if (/Mobi/.test(text)) return 'mobile';
  if (system === 'Android') return 'tablet';
  return system === null ? null : 'desktop';
}

/**
 * The family of a text that is not kept: at most 392 in all, whatever is sent, and told in a fraction of the time
 * that a look takes. Its own text says that it is a family.
 */
export function familyOf(text: string): Look & { text: string } {
  const browser = first(browserFamilies, text);
  const system = first(systemFamilies, text);
  const device = deviceOf(text, system);
  const crawler = isbot(text);
  const told = [crawler ? 'crawler' : null, browser, system, device].filter((part) => part !== null);
  return { text: `family: ${told.join(', ') || 'unknown'}`, crawler, device, browser, system };
}
