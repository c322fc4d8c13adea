/** What the demo's visitors were shown: documents as the widget makes them, in the visitor's language. */
import { type Notice, readNotice } from '#libs/notices/contract';
import { languages, phrases } from '#libs/widget/texts';
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
  const at = languages.findIndex((each) => language.startsWith(each));
  const text = (name: keyof typeof phrases) => phrases[name][at] ?? phrases[name][0];
  const intro = text('intro');
  const isLater = source === 'preferences';
  const document = {
    title: text('title'),
    // the shorter wording of the experiment is the first sentence
    intro: variant?.endsWith('short') ? (/^[^.:]+[.:]/.exec(intro)?.[0] ?? intro) : intro,
    note: source === 'gpc' ? text('gpc') : undefined,
    links: [{ label: text('policy'), href: policy }],
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
