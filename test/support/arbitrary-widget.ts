/** Settings of a banner, as random as they may come. */
import fc from 'fast-check';
import { languages } from '#libs/widget/languages';
import { colourNames } from '../../apps/dashboard/widget-setup/draft/colours.ts';
import { readDraft, type WidgetDraft } from '../../apps/dashboard/widget-setup/draft/draft.ts';

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '</script><script>alert(1)</script>',
    '<!-- <script>',
    '" onload="x',
    "it's \\ \u2028",
    'a\r\nb',
    '&quot;',
  ),
);
const name = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,12}$/);
const texts = fc.dictionary(fc.oneof(name, fc.constantFrom('title', 'intro', 'mapsPurpose')), words, { maxKeys: 4 });
const version = fc.oneof(words, fc.integer());
const colour = fc.oneof(fc.constantFrom('red', 'rgb(1, 2, 3)', '#abc', 'url(x)', 'red;}'), fc.string());

const optional = { requiredKeys: ['name' as const] };
const services = fc.array(
  fc.record(
    {
      name: words,
      provider: words,
      country: words,
      policyUrl: fc.oneof(fc.webUrl(), fc.constant('javascript:x')),
      cookies: fc.array(fc.record({ name: fc.oneof(name, fc.constantFrom('*', '_ga*')), duration: words }, optional)),
    },
    optional,
  ),
  { maxLength: 2 },
);

const experiment = fc.record({
  id: name,
  variants: fc.array(
    fc.record(
      { name, share: fc.nat(3), settings: fc.record({ texts, theme: fc.constant('dark') }, { requiredKeys: [] }) },
      optional,
    ),
    { maxLength: 3 },
  ),
});

const regions = fc.array(
  fc.record(
    {
      in: fc.oneof(fc.constant('*'), fc.array(fc.constantFrom('EU', 'FR', 'GB', 'US-CA', 'CA-QC', 'UK', 'us'))),
      model: fc.constantFrom('opt_in', 'opt_out', 'none', 'other'),
      on: fc.array(fc.constantFrom('analytics', 'necessary')),
      maxAgeMonths: fc.integer({ min: -1, max: 200 }),
    },
    { requiredKeys: ['in', 'model'] },
  ),
  { maxLength: 4 },
);

/** What the widget takes of any of them. */
export const drafts: fc.Arbitrary<WidgetDraft> = fc
  .record(
    {
      lang: fc.constantFrom('', 'de', 'pt-BR', 'xx-xx-xx-xx-xx'),
      dir: fc.constantFrom('ltr', 'rtl', 'up'),
      theme: fc.constantFrom('auto', 'light', 'dark'),
      position: fc.constantFrom('bottom', 'left', 'right', 'center'),
      button: fc.constantFrom('left', 'right', 'none'),
      policyUrl: fc.oneof(fc.webUrl(), words, fc.constantFrom('javascript:alert(1)', '/privacy?a=1&b=2')),
      policyVersion: version,
      cookieDomain: fc.oneof(fc.domain(), words),
      maxAgeMonths: fc.oneof(fc.integer({ min: -1, max: 200 }), words),
      categories: fc.array(
        fc.oneof(
          name,
          fc.record({ id: name, required: fc.boolean(), label: words, services }, { requiredKeys: ['id'] }),
        ),
        { maxLength: 4 },
      ),
      texts: fc
        .tuple(texts, fc.dictionary(fc.constantFrom(...languages, 'pt-BR'), texts, { maxKeys: 2 }))
        .map(([all, some]) => ({ ...all, ...some })),
      colors: fc.dictionary(fc.constantFrom(...colourNames, 'other'), colour),
      links: fc.array(fc.record({ label: words, href: fc.oneof(fc.webUrl(), words) }), { maxLength: 3 }),
      consentMode: fc.oneof(fc.boolean(), fc.dictionary(name, fc.array(fc.constantFrom('ad_storage', 'x')))),
      company: words,
      layer: fc.oneof(fc.constantFrom('ownLayer', 'dataLayer', 'a b'), words),
      signals: fc.record({ uet: fc.boolean(), clarity: fc.boolean() }, { requiredKeys: [] }),
      reload: fc.boolean(),
      experiment,
      regions,
      metadata: fc.dictionary(name, fc.oneof(words, fc.integer(), fc.boolean())),
    },
    { requiredKeys: [] },
  )
  .map((given) => readDraft(given));
