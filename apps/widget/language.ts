/** Which language is shown: the site's choice, else the page's, else the visitor's. Its texts are asked for first of all. */
import { packPath } from '#libs/widget/languages';
import { joined, own } from '#libs/widget/plain';
import { languageFor, packFor, type Texts, wordingIn } from '#libs/widget/wording';
import { onceWithin } from './once-within.ts';
import { page } from './page.ts';
import type { Settings } from './settings.ts';

/** Milliseconds that a banner waits for its texts, then it is in English. */
const patience = 1_000;

interface Language {
  /** Chooses a language instead of the site's choice; without one, the page's or the visitor's again. */
  choose(tag?: string): void;
  /** Looks whether the page has another language now. */
  look(): void;
  /** Once there are texts: words everything again, since the site's own may be others now. */
  word(): void;
}

/** Sets `settings.wording`, and calls `onWording` each time: at once where the texts are here, else when they come. */
export function openLanguage(settings: Settings, onWording: () => void): Language {
  let asked = '';
  const language = {
    choose: (tag?: string) => {
      settings.lang = tag;
      language.look();
    },
    word: () => {},
    look: () => {
      const { lang, texts } = settings;
      const wanted = languageFor(joined([lang ?? '', page.documentElement.lang], navigator.languages), texts[0] ?? {});
      if (wanted === asked) return;
      asked = wanted;
      const use = (tag: string, ours?: Partial<Texts>) => {
        // another one may have been asked for since
        if (asked !== wanted) return;
        language.word = () => {
          settings.wording = wordingIn(tag, settings.texts, ours);
          if (settings.dir) settings.wording.direction = settings.dir;
          onWording();
        };
        language.word();
      };
      const pack = packFor(wanted);
      if (pack) void fetchPack(settings.api, pack, (ours) => use(ours ? wanted : 'en', ours));
      else use(wanted);
    },
  };
  language.look();
  return language;
}

/** Calls `done` once: with the texts, or with nothing where there are none in time. */
async function fetchPack(api: string, pack: string, done: (texts?: Partial<Texts>) => void): Promise<void> {
  const end = onceWithin(patience, done);
  try {
    // also when it is late, so that the next page has it
    const response = await fetch(api + packPath(__TEXTS__, pack), { credentials: 'omit' });
    const texts = own<string>((await response.json()) as Record<string, string>);
    // what a proxy may answer is no text of ours
    end(response.ok && typeof texts.title === 'string' ? texts : undefined);
  } catch {
    end();
  }
}
