/** Which language is shown: the site's choice, else the page's, else the visitor's. */
import { packPath } from '#libs/widget/languages';
import { concat, own } from '#libs/widget/tamper-proof';
import { languageFor, packFor, type Texts, wordingIn } from '#libs/widget/wording';

import { page } from './page.ts';
import type { Settings } from './settings.ts';
import { withTimeout } from './with-timeout.ts';

/** Milliseconds that a banner waits for its texts, then it is in English. */
const patience = 1_000;

interface Language {
  /** Chooses a language instead of the site's choice; without one, the page's or the visitor's again. */
  choose(tag?: string): void;
  /** Follows a change of the page's language. */
  follow(): void;
  /**
   * Builds the wording again, because a variant may have changed the site's own texts. Does nothing before the first texts
   * have come.
   */
  reword(): void;
}

/** Sets `settings.wording` and calls `onWording`: now if the texts are here, otherwise when they come. */
export function openLanguage(settings: Settings, onWording: () => void): Language {
  let asked = '';
  const language = {
    choose: (tag?: string) => {
      settings.lang = tag;
      language.follow();
    },
    reword: () => {},
    follow: () => {
      const { lang, texts } = settings;
      const wanted = languageFor(concat([lang ?? '', page.documentElement.lang], navigator.languages), texts[0] ?? {});
      if (wanted === asked) return;
      asked = wanted;
      const use = (tag: string, ours?: Partial<Texts>) => {
        // another language may have been chosen meanwhile
        if (asked !== wanted) return;
        language.reword = () => {
          settings.wording = wordingIn(tag, settings.texts, ours);
          if (settings.dir) settings.wording.direction = settings.dir;
          onWording();
        };
        language.reword();
      };
      const pack = packFor(wanted);
      if (pack) void fetchPack(settings.api, pack, (ours) => use(ours ? wanted : 'en', ours));
      else use(wanted);
    },
  };
  language.follow();
  return language;
}

/** Calls `done` once: with the texts, or without if they do not come in time. */
async function fetchPack(api: string, pack: string, done: (texts?: Partial<Texts>) => void): Promise<void> {
  const end = withTimeout(patience, done);
  try {
    // a late response is cached for the next page
    const response = await fetch(api + packPath(__TEXTS__, pack), { credentials: 'omit' });
    const texts = own<string>((await response.json()) as Record<string, string>);
    // a proxy may have sent something else
    end(response.ok && typeof texts.title === 'string' ? texts : undefined);
  } catch {
    end();
  }
}
