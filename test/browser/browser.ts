/** The machine's Chromium, or Debian's; every test gets a visitor of its own. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { findChromium } from '../../scripts/stack/packages.ts';

/** Hosts below this name are this machine. */
export const hostName = 'example.test';

/** Milliseconds; a page that lacks what it should have is told soon. */
const patience = 10_000;
/** Milliseconds for unpacking Chromium, once in a clone. */
const installTime = 300_000;

export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** what the pages wrote to the console, and errors that nobody caught */
  messages: string[];
}

export function useBrowser(): (options?: BrowserContextOptions) => Promise<Visitor> {
  let browser: Browser;

  beforeAll(async () => {
    const { binary, env } = await findChromium({ say: (line) => console.log(line) });
    browser = await chromium.launch({
      executablePath: binary,
      env: Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : []))),
      args: [`--host-resolver-rules=MAP *.${hostName} 127.0.0.1`],
    });
  }, installTime);
  afterAll(() => browser.close());

  return async (options = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    context.setDefaultTimeout(patience);
    onTestFinished(() => context.close());
    const messages: string[] = [];
    context.on('page', (page) => {
      page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => messages.push(`uncaught: ${error.message}`));
    });
    return { context, page: await context.newPage(), messages };
  };
}

/** The button with exactly this name. */
export const click = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
