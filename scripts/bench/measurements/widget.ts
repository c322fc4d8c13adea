/** A new visitor loads a page of text on a phone with a slow processor: with the banner, and without. */
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { z } from 'zod';
import { findChromium } from '../../stack/chromium.ts';
import { listen } from '../../stack/ports.ts';
import { median } from '../figures.ts';
import type { Measurement } from '../measurement.ts';

/** Of each page, in turns. */
const loads = 9;
/** How many times slower than this machine. */
const slowness = 4;
/** In JavaScript. */
const shownBanner = `document.querySelector('assent-widget')?.shadowRoot.querySelector('dialog')`;
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

const text = 'What a shop says about the things that it sells, in a paragraph of some length. '.repeat(6);
const html = (head: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">
  <meta name="viewport" content="width=device-width">${head}</head>
  <body><h1>A shop</h1>${`<h2>A thing</h2><p>${text}</p>`.repeat(30)}</body></html>`;

/** Both on the same page, in one run. The loads are the rounds. */
export const widget: Measurement = {
  name: 'widget',
  about: 'until the banner is shown on a slow phone, beyond the same page without one: main thread, LCP, layout shift',
  figure: async (stack, { isQuick }) => {
    const [site] = stack.sites;
    if (!site) throw new Error('there is no domain');
    const { baseUrl } = await stack.startApi();
    const script = `<script src="${baseUrl}/widget.js" data-domain="${site.domainId}" data-key="${site.apiKey}" defer></script>`;
    const pages = new Map(
      Object.entries({ '/plain': '', '/banner': script }).map(([at, head]) => [at, gzipSync(html(head))]),
    );
    const server = createServer(({ url = '' }, response) => {
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' };
      response.writeHead(pages.has(url) ? 200 : 404, headers).end(pages.get(url));
    });
    const origin = `http://localhost:${await listen(server)}`;
    const { binary, env } = await findChromium(console.log);
    const browser = await chromium.launch({ executablePath: binary, env: { ...env }, args: ['--disable-gpu'] });
    const [plain, banner]: [Load[], Load[]] = [[], []];
    try {
      // the first of each only warms up
      for (let count = 0; count <= (isQuick ? 1 : loads); count += 1) {
        const one = await loadPage(browser, `${origin}/plain`, 'document.body');
        const other = await loadPage(browser, `${origin}/banner`, shownBanner);
        if (count > 0) plain.push(one) && banner.push(other);
      }
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
    const middle = (all: Load[], name: keyof Load) => median(all.map((load) => load[name]));
    const figures = {
      'widget: main thread': { value: middle(banner, 'mainThread') - middle(plain, 'mainThread'), unit: 'ms' },
      'widget: page alone, main thread': { value: middle(plain, 'mainThread'), unit: 'ms' },
      'widget: LCP': { value: middle(banner, 'lcp'), unit: 'ms' },
      'widget: page alone, LCP': { value: middle(plain, 'lcp'), unit: 'ms' },
      'widget: layout shift': { value: middle(banner, 'shift'), unit: '' },
    };
    return async () => figures;
  },
  targets: { 'widget: layout shift': 'at most 0' },
};

interface Load {
  /** milliseconds of processor time of the main thread until the page was loaded and the banner painted */
  mainThread: number;
  /** of the largest contentful paint, in milliseconds since the navigation began */
  lcp: number;
  /** cumulative layout shift */
  shift: number;
}

/** In the page: marks the moment after the frame that shows the banner, and keeps what was painted and shifted. */
const watch = (shown: string) => `{
  let isAsked = false;
  const look = () => {
    isAsked = false;
    const banner = ${shown};
    if (!banner || document.readyState !== 'complete') return;
    // it may come in by and by
    if (!banner.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return ask();
    observer.disconnect();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => performance.mark('banner');
    port2.postMessage(null);
  };
  const ask = () => {
    if (!isAsked) requestAnimationFrame(look);
    isAsked = true;
  };
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const { shadowRoot } of addedNodes) if (shadowRoot) observe(shadowRoot);
    ask();
  });
  const observe = (tree) => observer.observe(tree, { childList: true, subtree: true, attributes: true });
  observe(document);
  addEventListener('load', () => setTimeout(ask));
  window.entries = [];
  for (const type of ['layout-shift', 'largest-contentful-paint'])
    new PerformanceObserver((list) => entries.push(...list.getEntries())).observe({ type, buffered: true });
}`;
const isMarked = `performance.getEntriesByName('banner').length > 0`;
const seen = `({
  lcp: entries.findLast(({ entryType }) => entryType === 'largest-contentful-paint').startTime,
  shift: entries.reduce((sum, { value = 0 }) => sum + value, 0),
})`;
const painted = z.object({ lcp: z.number(), shift: z.number() });

async function loadPage(browser: Browser, address: string, shown: string): Promise<Load> {
  // without transitions: a banner is there or not
  const context = await browser.newContext({ ...phone, reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowness });
    await page.addInitScript(watch(shown));
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'blink.user_timing'] });
    await page.goto(address);
    await page.waitForFunction(isMarked, undefined, { polling: 50 });
    const trace = traced.parse(JSON.parse(String(await browser.stopTracing())));
    return { mainThread: worked(trace), ...painted.parse(await page.evaluate(seen)) };
  } finally {
    await context.close();
  }
}

const event = z.object({
  name: z.string(),
  pid: z.number(),
  tid: z.number(),
  ts: z.number(),
  tdur: z.number().default(0),
});
const traced = z.object({ traceEvents: z.array(event) });

/** Of the thread that has set the mark, until then, by its processor's clock: the machine does other work, too. */
function worked({ traceEvents }: z.infer<typeof traced>): number {
  const mark = traceEvents.find(({ name }) => name === 'banner');
  if (!mark) throw new Error('the trace does not say when the banner was shown');
  const tasks = traceEvents.filter(
    ({ name, pid, tid, ts }) => name === 'RunTask' && pid === mark.pid && tid === mark.tid && ts < mark.ts,
  );
  return tasks.reduce((sum, { tdur }) => sum + tdur, 0) / 1_000;
}
