/** What the demo's visitors were shown: documents as the widget makes them, in the visitor's language. */
import { readFileSync } from 'node:fs';
import { type Notice, readNotice } from '#libs/notices/contract';
import { languages } from '#libs/widget/languages';
import { phrases } from '#libs/widget/texts';
import { root } from '../stack/paths.ts';
import { categories } from './sites.ts';
import type { Made } from './visits.ts';

type Shown = Pick<Made, 'language' | 'variant' | 'bannerVersion' | 'policyVersion' | 'source' | 'pageUrl'>;

/** Some hundred different ones for all records. */
const made = new Map<string, Notice>();

export function noticeOf({ language = 'en', variant, bannerVersion, policyVersion, source, pageUrl }: Shown): Notice {
  const policy = new URL('/privacy', pageUrl).href;
  const key = [language, variant, bannerVersion, policyVersion, source, policy].join('\n');
  const known = made.get(key);
  if (known) return known;
  const texts = textsIn(languages.find((each) => each === language.slice(0, 2)) ?? 'en');
  const text = (name: keyof typeof phrases) => texts[name];
  const intro = text('intro');
  const isLater = source === 'preferences';
  const document = {
    title: text('title'),
    // the shorter wording of the experiment is the first sentence
    intro: variant?.endsWith('short') ? (/^[^.:]+[.:]/.exec(intro)?.[0] ?? intro) : intro,
    note: source === 'gpc' ? text('gpc') : undefined,
    links: [{ label: text('policy'), href: policy }],
    asks: `${text('asks')} ${categories.map(text).join(' · ')}`,
    buttons: [text('accept'), text('reject'), text('customise')],
    settings: {
      title: text('settings'),
      categories: (['necessary', ...categories] as const).map((id) => ({
        label: text(id),
        description: text(`${id}Purpose`),
        always: id === 'necessary' ? text('always') : undefined,
        id,
      })),
      buttons: [text('accept'), text(isLater ? 'withdraw' : 'reject'), text('save')],
    },
    language,
    version: bannerVersion,
    policyVersion,
    variant,
  };
  const notice = readNotice(Buffer.from(JSON.stringify(document)));
  if ('refused' in notice) throw new Error(`a notice of the demo ${notice.refused}`);
  made.set(key, notice);
  return notice;
}

function textsIn(language: string): typeof phrases {
  if (language === 'en') return phrases;
  return { ...phrases, ...JSON.parse(readFileSync(`${root}/libs/widget/languages/${language}.json`, 'utf8')) };
}
