import { chromium } from 'playwright-core';
import { findChromium } from '../../stack/chromium.ts';
import { type Figures, median } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { type Load, loadPage } from '../widget-load.ts';
import { type Banner, banners, startPages } from '../widget-pages.ts';

/** Of each page, in turns. */
const loads = 9;

/** All on the same page, in one run. The loads are the rounds. */
export const widget: Measurement = {
  name: 'widget',
  about: 'until a banner is shown on a slow phone: main thread, LCP, bytes; beside vanilla-cookieconsent and Klaro',
  figure: async (stack, { isQuick }) => {
    const [site] = stack.sites;
    if (!site) throw new Error('there is no domain');
    const { baseUrl } = await stack.startApi();
    const pages = await startPages(baseUrl, site);
    const { binary, env } = await findChromium(console.log);
    const browser = await chromium.launch({ executablePath: binary, env: { ...env }, args: ['--disable-gpu'] });
    const taken = new Map<Banner, Load[]>(banners.map((banner) => [banner, []]));
    try {
      // the first of each only warms up
      for (let count = 0; count <= (isQuick ? 1 : loads); count += 1) {
        for (const [banner, all] of taken) {
          const load = await loadPage(browser, pages.address(banner), pages.shown(banner));
          if (count > 0) all.push(load);
        }
      }
    } finally {
      await browser.close();
      pages.stop();
    }
    const figures = figuresOf(taken);
    return async () => figures;
  },
  targets: { 'widget: Assent, layout shift': 'at most 0' },
};

/** A banner's main thread is what it takes beyond the page without one. */
function figuresOf(taken: Map<Banner, Load[]>): Figures {
  const middle = (banner: Banner, name: keyof Load) => median((taken.get(banner) ?? []).map((load) => load[name]));
  const figures: Figures = {};
  for (const banner of banners) {
    const add = (name: string, value: number, unit: string) => {
      figures[`widget: ${banner}, ${name}`] = { value, unit };
    };
    const own = banner === 'no banner' ? 0 : middle('no banner', 'mainThread');
    add('main thread', middle(banner, 'mainThread') - own, 'ms');
    add('LCP', middle(banner, 'lcp'), 'ms');
    add('layout shift', middle(banner, 'shift'), '');
    add('its tags load', middle(banner, 'early'), 'bytes');
    add('comes later', middle(banner, 'late'), 'bytes');
  }
  return figures;
}
