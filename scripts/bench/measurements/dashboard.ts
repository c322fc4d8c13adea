import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../../stack/chromium.ts';
import { atMost, type Figures, median } from '../figures.ts';
import { type Measurement, untilFromRedis } from '../measurement.ts';
import { persistAlone } from '../programs.ts';

const domains = 200;
const records = 5_000;
/** so many days, up to now */
const days = 60;

/** Milliseconds from each click and key of a tour to the next picture, by the browser's own clock. */
export const dashboard: Measurement = {
  name: 'dashboard',
  about: `how soon the dashboard answers clicks and keys, with ${domains} domains, in Chromium`,
  figure: async (stack) => {
    const [api, , [site]] = await Promise.all([stack.startApi(), stack.startWorker(), stack.makeSites(1)]);
    if (!site) throw new Error('there is no domain');
    const token = stack.token(site.organizationId);
    const domainIds = [site.domainId, ...(await stack.addDomains([site.organizationId], domains - 1))];
    await persistAlone(stack, { records, domainIds, span: [Date.now() - days * 86_400_000, Date.now()] });
    await untilFromRedis(api, '/v1/consent/org-stats', token);
    const { binary, env } = await findChromium(console.log);
    return async () => {
      const browser = await chromium.launch({ executablePath: binary, env, args: ['--disable-gpu'] });
      try {
        const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
        await page.goto(`${api.baseUrl}/#token=${token}`);
        return await tour(page);
      } finally {
        await browser.close();
      }
    };
  },
  targets: { 'dashboard: worst': atMost(100) },
};

async function tour(page: Page): Promise<Figures> {
  await page.evaluate(`
    window.seen = [];
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) seen.push([startTime, duration]);
    }).observe({ type: 'event', durationThreshold: 16 });`);
  const steps: [name: string, start: number][] = [];
  const step = async (name: string, act: () => Promise<unknown>, ready: () => Promise<unknown>) => {
    steps.push([name, await page.evaluate(() => performance.now())]);
    await act();
    await ready();
  };
  const press = (key: string) => () => page.keyboard.press(key);
  const follow = (name: string) => () => page.getByRole('link', { name, exact: true }).click();
  const chosen = (name: string) => () => page.locator('.chips a[aria-current]', { hasText: name }).waitFor();
  const shows = (selector: string) => () => page.locator(selector).first().waitFor();
  const says = (text: string | RegExp) => () => page.getByText(text, { exact: true }).waitFor({ state: 'attached' });
  const dialog = page.getByRole('dialog');

  await shows('.stream-row')();
  await page.getByRole('slider').focus();
  await step('another day', press('ArrowLeft'), shows('.tip'));
  await step('a table', () => page.getByText('Show as a table').click(), shows('.figures tbody'));
  const menu = () => page.getByRole('button', { name: 'Domains' }).click();
  await step('the menu', menu, () => page.getByRole('searchbox').waitFor());
  // as fast as people type
  await step('search', () => page.keyboard.type('shop', { delay: 80 }), says('1 domain'));
  await step('the domain', press('Enter'), shows('section.figure .figure-value'));
  for (const range of ['12 months', 'Last month', '30 days']) await step(range, follow(range), chosen(range));
  await step('the log', follow('Log'), () => page.getByRole('table').waitFor());
  // by the keyboard, since only what a person can do is measured
  await page.getByRole('combobox', { name: 'Rows' }).focus();
  await step('200 rows', press('End'), says(/^1 to 200 of/));
  await step('the next page', follow('Next'), says(/^201 to/));
  const details = page.getByRole('button', { name: /Details/ }).first();
  await step(
    'a record',
    () => details.click(),
    () => dialog.waitFor(),
  );
  await step('closing it', press('Escape'), () => dialog.waitFor({ state: 'detached' }));

  const seen: [start: number, duration: number][] = await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(seen))))',
  );
  const took = steps.map(([, start], index) => {
    const end = steps[index + 1]?.[1] ?? Number.POSITIVE_INFINITY;
    return Math.max(0, ...seen.flatMap(([time, duration]) => (time >= start && time < end ? [duration] : [])));
  });
  const figures = steps.map(([name], index) => [
    `dashboard: ${name}`,
    { value: took[index] ?? Number.NaN, unit: 'ms' },
  ]);
  return {
    'dashboard: median': { value: median(took), unit: 'ms' },
    'dashboard: worst': { value: Math.max(...took), unit: 'ms' },
    ...Object.fromEntries(figures),
  };
}
