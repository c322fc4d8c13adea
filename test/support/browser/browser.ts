/** The machine's Chromium, or Debian's, with visitors of a test's own and regular ones. */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type ViewportSize,
} from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { findChromium } from '../../../scripts/stack/chromium.ts';
import { atEnd } from '../at-end.ts';
import { eventually } from '../wait.ts';

/** Hosts below this name are this machine. */
export const hostName = 'example.test';
/** Others there are none: pages that are not ours, such as a provider's, ask for fonts, and wait where no network answers. */
const hosts = `MAP *.${hostName} 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE localhost,EXCLUDE 127.0.0.1`;

/** Milliseconds: four times as long as a page of ours waits before it asks again. */
const patience = 60_000;
/** Milliseconds for unpacking Chromium, once in a clone, and for its start. */
const installTime = 300_000;

export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** what the pages wrote to the console, and errors that nobody caught */
  messages: string[];
}

export interface Visit {
  /** Somebody new, who is gone when the test ends. Nothing moves that need not, unless the test asks for it. */
  (options?: BrowserContextOptions): Promise<Visitor>;
  /**
   * The one who came with the first test that asked for such a one, in the tab of then. A new visitor costs as much as a
   * page, so this is for tests that do not look at what a browser keeps of other domains and tokens.
   */
  again(options?: BrowserContextOptions): Promise<Visitor>;
}

/** Once in a worker, for all its files: it ends with the worker, or when that is killed and its pipe breaks. */
let launched: Browser | undefined;

async function launch(): Promise<Browser> {
  const { binary, env } = await findChromium(console.log);
  return chromium.launch({
    executablePath: binary,
    timeout: installTime,
    env: Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : []))),
    args: ['--disable-gpu', '--disable-smooth-scrolling', '--no-proxy-server', `--host-resolver-rules=${hosts}`],
  });
}

/**
 * What tests would only wait for. The widget waits a second for the texts of its language and for its third file, and five
 * for its second: on a busy machine they come later, so it waits until they come, unless the test has a clock of its own. Nothing else waits
 * exactly as long. And what opens can be pressed after half a second, here after a twentieth.
 */
function hastenWidget(): void {
  // some pages replace what the language has
  const { setTimeout, Error: Traced } = window;
  const { includes, replaceAll } = String.prototype;
  const { apply } = Reflect;
  const patient = (task: () => void, wait?: number, ...given: unknown[]) => {
    const { stack } = new Traced();
    const isOf = (file: string) => apply(includes, stack, [file]);
    const isPatience = (wait === 1_000 || wait === 5_000) && (isOf('/widget.js') || isOf('/assent-') || isOf('/w/'));
    return setTimeout(task, isPatience ? 2 ** 30 : wait, ...given);
  };
  Object.assign(window, { setTimeout: patient });
  const { replaceSync } = CSSStyleSheet.prototype;
  CSSStyleSheet.prototype.replaceSync = function (rules) {
    apply(replaceSync, this, [apply(replaceAll, rules, ['animation:.5s wait', 'animation:.05s wait'])]);
  };
}

/** `prepare`: what every new visitor's browser is made like. */
export function useBrowser(prepare = async (_: BrowserContext): Promise<unknown> => undefined): Visit {
  let browser: Browser;
  const regulars = new Map<string, Promise<Visitor>>();

  beforeAll(async () => {
    // one that crashed does not fail the next file
    if (!launched?.isConnected()) launched = await launch();
    browser = launched;
  }, installTime);
  atEnd(async () => {
    for (const regular of regulars.values()) await (await regular).context.close();
  });

  const arrive = async (options: BrowserContextOptions): Promise<Visitor> => {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(patience);
    // what it does to timers must not reach the one that never fires
    await prepare(context);
    await context.addInitScript(hastenWidget);
    const messages: string[] = [];
    context.on('page', (page) => {
      page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => messages.push(`uncaught: ${error.message}`));
    });
    return { context, page: await context.newPage(), messages };
  };
  const visit = async (options: BrowserContextOptions = {}) => {
    const visitor = await arrive(options);
    onTestFinished(() => visitor.context.close());
    return visitor;
  };

  const again = async (options: BrowserContextOptions = {}) => {
    const key = JSON.stringify(options);
    const coming = regulars.get(key) ?? arrive(options);
    regulars.set(key, coming);
    const visitor = await coming;
    visitor.messages.length = 0;
    const size = visitor.page.viewportSize();
    onTestFinished(() => leave(visitor, size));
    return visitor;
  };
  return Object.assign(visit, { again });
}

/** Until the next test, nothing is asked for and nothing is in the way. */
async function leave({ context, page }: Visitor, size: ViewportSize | null): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  for (const other of context.pages()) if (other !== page) await other.close();
  if (size) await page.setViewportSize(size);
  await page.goto('about:blank');
}

/** What is asked for at such an address waits until the test has seen what it wants to see, and calls what it gets. */
export async function hold(page: Page, url: string | RegExp): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    await held;
    // the page may have given up
    await route.continue().catch(() => {});
  });
  return release;
}

/** One behaviour among several that a journey passes: what fails has its name. */
export async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `${name}: ${error.message}`;
    throw error;
  }
}

/** Until the element has the keyboard. */
export const hasFocus = (element: Locator): Promise<void> =>
  eventually(async () => expect(await element.evaluate((each) => each === document.activeElement)).toBe(true));

/** Until what lies there can be hit by a pointer, and a turn of the wheel has moved it. */
export const painted = (element: Locator): Promise<unknown> =>
  element.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Stops the clock of all pages. On a busy machine they may already be past the given moment. */
export const stopClock = (context: BrowserContext): Promise<void> =>
  eventually(() => context.clock.pauseAt(Date.now() + 500));

/** The button with exactly this name. */
export const click = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** On the dashboard's page of a domain, the domain's name. */
export const crumb = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name, exact: true });

/** What a page has sent until now has gone before this. */
export const afterwards = (page: Page): Promise<string> =>
  page.evaluate(() => fetch('/after').then((response) => response.text()));
