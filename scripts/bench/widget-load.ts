/** A new visitor loads a page on a phone with a slow processor. */
import type { Browser } from 'playwright-core';
import { z } from 'zod';

/** How many times slower than this machine. */
const slowness = 4;
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

export interface Load {
  /** milliseconds of processor time of the main thread until the page was loaded and the banner painted */
  mainThread: number;
  /** of the largest contentful paint, in milliseconds since the navigation began */
  lcp: number;
  /** cumulative layout shift */
  shift: number;
  /** bytes of what the page's own tags ask for, and of what comes after it, with headers and as packed */
  early: number;
  late: number;
}

const traced = z.object({
  traceEvents: z.array(
    z.object({ name: z.string(), pid: z.number(), tid: z.number(), ts: z.number(), tdur: z.number().default(0) }),
  ),
});

/**
 * In the page: marks the moment behind the frame that shows the banner, which it looks for in a frame after something has
 * changed, and keeps what was painted and what was shifted.
 */
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

/** `shown`: an expression in JavaScript for the banner's element. */
export async function loadPage(browser: Browser, address: string, shown: string): Promise<Load> {
  // without transitions: a banner is there or not
  const context = await browser.newContext({ ...phone, reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowness });
    await session.send('Network.enable');
    const isEarly = new Map<string, boolean>();
    const bytes = { early: 0, late: 0 };
    session.on('Network.requestWillBeSent', ({ requestId, initiator, type }) => {
      if (type !== 'Document') isEarly.set(requestId, initiator.type === 'parser');
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const early = isEarly.get(requestId);
      if (early !== undefined) bytes[early ? 'early' : 'late'] += encodedDataLength;
    });
    await page.addInitScript(watch(shown));
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'blink.user_timing'] });
    await page.goto(address);
    await page.waitForFunction(isMarked, undefined, { polling: 50 });
    const trace = traced.parse(JSON.parse(String(await browser.stopTracing())));
    await page.waitForLoadState('networkidle');
    return { mainThread: worked(trace), ...painted.parse(await page.evaluate(seen)), ...bytes };
  } finally {
    await context.close();
  }
}

/**
 * Of the thread that has set the mark, until then. Its processor's time, not the clock's: the machine does other work, and
 * a thread that waits for its turn does not work.
 */
function worked({ traceEvents }: z.infer<typeof traced>): number {
  const mark = traceEvents.find(({ name }) => name === 'banner');
  if (!mark) throw new Error('the trace does not say when the banner was shown');
  const tasks = traceEvents.filter(
    ({ name, pid, tid, ts }) => name === 'RunTask' && pid === mark.pid && tid === mark.tid && ts < mark.ts,
  );
  return tasks.reduce((sum, { tdur }) => sum + tdur, 0) / 1_000;
}
