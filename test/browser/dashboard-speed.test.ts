/** How long the dashboard takes to answer its user. Nothing else runs beside this file (vitest.config.ts). */
import { beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  figure,
  history,
  makeCustomer,
  open,
  type Running,
  storeCounted,
  useService,
} from '../support/browser/dashboard.ts';

/** Milliseconds from a key or a click to the next picture. */
const noticed = 100;

describe('the dashboard, timed', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db, {
      domains: ['shop.example', ...Array.from({ length: 199 }, (_, index) => `site-${index}.example`)],
    });
    await storeCounted(running, customer, history(customer, 60, 100));
  }, 120_000);

  /** Every click and key of a tour, each with the milliseconds to its picture. */
  const tour = async (): Promise<Map<string, number>> => {
    const { page } = await open((options) => visit.again(options, 'tour'), running, customer);
    await page.evaluate(() => {
      const seen: [number, number][] = [];
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const { startTime, duration } of list.getEntries()) seen.push([startTime, duration]);
      }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
    });
    const steps: [string, number][] = [];
    const step = async (name: string, act: () => Promise<unknown>, ready: () => Promise<unknown>) => {
      steps.push([name, await page.evaluate(() => performance.now())]);
      await act();
      await ready();
    };
    const press = (key: string) => () => page.keyboard.press(key);
    const follow = (name: string) => () => page.getByRole('link', { name, exact: true }).click();
    const chosen = (name: string) => () => page.locator('.chips a[aria-current]', { hasText: name }).waitFor();
    const tip = page.locator('.tip');
    const menu = page.getByRole('searchbox');

    await page.locator('.stream-row').first().waitFor();
    await page.getByRole('slider').focus();
    await step('reads another day', press('ArrowLeft'), () => tip.waitFor());
    await step(
      'shows the figures as a table',
      () => page.getByText('Show as a table').click(),
      () => page.locator('.figures tbody').waitFor(),
    );
    await step(
      'opens the menu',
      () => page.getByRole('button', { name: 'Domains' }).click(),
      () => menu.waitFor(),
    );
    // as fast as people type
    const typed = () => page.getByText('1 domain', { exact: true }).waitFor({ state: 'attached' });
    await step('looks for a domain', () => page.keyboard.type('shop', { delay: 80 }), typed);
    await step('opens the domain', press('Enter'), () => figure(page, 'Decisions').waitFor());
    for (const name of ['12 months', 'Last month', '30 days']) await step(`${name}`, follow(name), chosen(name));
    await step('opens the log', follow('Log'), () => page.getByRole('table').waitFor());
    // by the keyboard, since only what a person can do is measured
    await page.getByRole('combobox', { name: 'Rows' }).focus();
    await step('shows 200 rows', press('End'), () => page.getByText(/^1 to 200 of/).waitFor());
    await step('goes to the next page', follow('Next'), () => page.getByText(/^201 to/).waitFor());
    const details = page.getByRole('button', { name: /Details/ }).first();
    const dialog = page.getByRole('dialog');
    await step(
      'opens a record',
      () => details.click(),
      () => dialog.waitFor(),
    );
    await step('closes the record', press('Escape'), () => dialog.waitFor({ state: 'detached' }));
    const seen = await page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return (window as unknown as { seen: [number, number][] }).seen;
    });
    return new Map(
      steps.map(([name, start], index) => {
        const end = steps[index + 1]?.[1] ?? Number.POSITIVE_INFINITY;
        return [name, Math.max(0, ...seen.flatMap(([time, took]) => (time >= start && time < end ? [took] : [])))];
      }),
    );
  };

  it(`answers every click and key within ${noticed} ms, with 200 domains`, async () => {
    // a machine that others use too has its moments, so each step has nine turns to be quick three times
    const took = new Map<string, number[]>();
    const slow = () => [...took].filter(([, all]) => all.filter((each) => each <= noticed).length < 3);
    for (let turn = 0; turn < 9 && (turn < 3 || slow().length > 0); turn += 1) {
      for (const [name, duration] of await tour()) took.set(name, [...(took.get(name) ?? []), duration]);
    }
    console.log('milliseconds of each tour:', JSON.stringify(Object.fromEntries(took)));
    expect(Object.fromEntries(slow())).toEqual({});
  }, 150_000);
});
