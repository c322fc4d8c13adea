/** The same page without a banner, and with each of some banners: a website of the bench's own, everything packed. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../stack/paths.ts';
import type { Site } from '../stack/sites.ts';

const dependency = (file: string) => readFileSync(path.join(root, 'node_modules', file), 'utf8');

/** Each asks for statistics and marketing, in English. */
const cookieConsent = {
  categories: { necessary: { enabled: true, readOnly: true }, analytics: {}, marketing: {} },
  language: {
    default: 'en',
    translations: {
      en: {
        consentModal: {
          title: 'Your privacy',
          description: 'We would like to use cookies for statistics and marketing. You can change your choice later.',
          acceptAllBtn: 'Accept all',
          acceptNecessaryBtn: 'Reject all',
          showPreferencesBtn: 'Customise',
        },
        preferencesModal: { sections: [] },
      },
    },
  },
  hideFromBots: false,
};
const klaro = {
  acceptAll: true,
  lang: 'en',
  services: [
    { name: 'matomo', purposes: ['analytics'] },
    { name: 'ads', purposes: ['marketing'] },
  ],
};

/** `head`: what a site puts into the page; `shown`: the banner's element, in JavaScript. */
const kinds = {
  'no banner': { head: () => '', shown: 'document.body' },
  Assent: {
    head: (api: string, { domainId, apiKey }: Pick<Site, 'domainId' | 'apiKey'>) =>
      `<script src="${api}/widget.js" data-domain="${domainId}" data-key="${apiKey}" defer></script>`,
    shown: `document.querySelector('assent-widget')?.shadowRoot.querySelector('dialog')`,
  },
  'vanilla-cookieconsent': {
    head: () =>
      `<link rel="stylesheet" href="/cookieconsent.css"><script src="/cookieconsent.js" defer></script><script type="module">CookieConsent.run(${JSON.stringify(cookieConsent)})</script>`,
    shown: `document.querySelector('#cc-main .cm')`,
  },
  Klaro: {
    head: () => `<script>klaroConfig = ${JSON.stringify(klaro)}</script><script src="/klaro.js" defer></script>`,
    shown: `document.querySelector('.klaro .cookie-notice')`,
  },
};

export type Banner = keyof typeof kinds;
export const banners = Object.keys(kinds) as Banner[];

const pathOf = (banner: Banner) => `/${banners.indexOf(banner)}`;

const text = 'What a shop says about the things that it sells, in a paragraph of some length. '.repeat(6);
const html = (head: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">
  <meta name="viewport" content="width=device-width">${head}</head>
  <body><h1>A shop</h1>${`<h2>A thing</h2><p>${text}</p>`.repeat(30)}</body></html>`;

/** On a port of its own, under another name than the API's. */
export async function startPages(api: string, site: Pick<Site, 'domainId' | 'apiKey'>) {
  const files = new Map<string, [type: string, content: Buffer]>();
  const add = (name: string, type: string, content: string) => files.set(name, [type, gzipSync(content, { level: 9 })]);
  add('/cookieconsent.css', 'text/css', dependency('vanilla-cookieconsent/dist/cookieconsent.css'));
  add('/cookieconsent.js', 'text/javascript', dependency('vanilla-cookieconsent/dist/cookieconsent.umd.js'));
  add('/klaro.js', 'text/javascript', dependency('klaro/dist/klaro.js'));
  for (const banner of banners) add(pathOf(banner), 'text/html; charset=utf-8', html(kinds[banner].head(api, site)));

  const server = createServer(({ url = '' }, response) => {
    const [type, content] = files.get(url) ?? [];
    if (type) response.setHeaders(new Headers({ 'content-type': type, 'content-encoding': 'gzip' }));
    response.statusCode = content ? 200 : 404;
    response.end(content);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    address: (banner: Banner) => `http://localhost:${port}${pathOf(banner)}`,
    shown: (banner: Banner) => kinds[banner].shown,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
