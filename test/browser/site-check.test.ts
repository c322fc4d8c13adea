/** The check of a site, walked as its owner does: what is wrong is found, and nothing else is called a fault. */
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { ChecksPage, ShownCheck } from '#libs/banner/contract';
import { makeIdAt } from '#libs/base/terms/calendar';
import { findingsOf } from '#libs/widget/site-check';
import { click, hasFocus } from '../support/browser/browser.ts';
import { go, regions, signal, usePlaces } from '../support/browser/places.ts';
import { config } from '../support/browser/site.ts';
import { consentIn, kept, useWidget } from '../support/browser/widget.ts';
import { createAsk } from '../support/client.ts';

describe('a site check', () => {
  const widget = useWidget(usePlaces);

  const api = () => {
    const { stack } = widget;
    const ask = createAsk(stack.api.baseUrl, stack.tenant.organizationId, { scope: 'publish' });
    const path = `/v1/organization/domains/${stack.domainId}`;
    return {
      ticket: async () => (await ask<{ ticket: string }>('POST', `${path}/check-ticket`)).body.ticket,
      /** the newest */
      stored: async () => {
        const [newest] = (await ask<ChecksPage>('GET', `${path}/checks`)).body.checks;
        if (!newest) throw new Error('no check is stored');
        const { checkId, result } = (await ask<ShownCheck>('GET', `${path}/checks/${newest.checkId}`)).body;
        return { checkId, ...result };
      },
      count: async () => (await ask<ChecksPage>('GET', `${path}/checks`)).body.checks.length,
    };
  };
  const answerAll = (context: BrowserContext) =>
    context.route(/^https:/, (route) =>
      route.fulfill({ contentType: 'text/javascript', headers: { 'access-control-allow-origin': '*' }, body: '' }),
    );
  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });
  const begin = async (page: Page, address: string) => {
    await page.goto(`${address}#assent-check=${await api().ticket()}`);
    await click(page, 'Start');
    await heading(page, 'Step 1 of 3').waitFor();
  };
  /** Looks for this host among what the tab has noted. */
  const noted = (page: Page, host: string) =>
    expect.poll(() => page.evaluate(() => sessionStorage.getItem('assent.check'))).toContain(host);
  const walk = async (page: Page, address: string, hosts: { before: string; rejected: string; accepted: string }) => {
    await begin(page, address);
    await noted(page, hosts.before);
    await click(page, 'Next');
    await page.getByText('Now press “Reject all” in the banner').waitFor();
    await click(page, 'Reject all');
    await heading(page, 'Step 2 of 3').waitFor();
    await page.goto(address);
    await heading(page, 'Step 2 of 3').waitFor();
    await noted(page, hosts.rejected);
    await click(page, 'Next');
    await heading(page, 'Step 3 of 3').waitFor();
    await click(page, 'Accept all');
    await page.getByRole('button', { name: 'Finish' }).waitFor();
    await noted(page, hosts.accepted);
    await click(page, 'Finish');
    await page.getByRole('button', { name: 'Close' }).waitFor();
  };
  const services = [{ name: 'Counter', cookies: [{ name: '_ga*' }] }];
  const settings = { categories: [{ id: 'analytics', services }, 'marketing'] };
  const gtag = '<script>dataLayer = []; function gtag() { dataLayer.push(arguments); }</script>';
  const load = (address: string) => `<script async src="${address}"></script>`;

  it('finds every planted fault and calls nothing else one; it records nothing and leaves everything as it was', async () => {
    const { context, page } = await widget.visit();
    await answerAll(context);
    const faulty = widget.add(
      '/faulty',
      gtag +
        "<script>gtag('config', 'G-1')</script>" +
        config({ ...settings, displays: true }) +
        widget.tag() +
        load('https://connect.facebook.net/en_US/fbevents.js') +
        load('https://www.googletagmanager.com/gtag/js?id=G-1') +
        load('https://www.google-analytics.com/g/collect?gcs=G111&gcd=13r3r3r2r5l1') +
        '<script data-assent="marketing" src="https://pixel.example/p.js"></script>' +
        '<script type="text/plain" data-assent="marketing" src="https://snap.licdn.com/li.js"></script>' +
        `<script>
          document.cookie = '_ga_X=1';
          document.cookie = '__proto__=1';
          document.addEventListener('assent:change', () => { new Image().src = 'https://static.criteo.net/p.gif'; });
          if (document.cookie) setTimeout(() => assent.getConsent() && document.dispatchEvent(new Event('assent:change')), 500);
        </script>`,
      '<iframe data-assent="marketing" src="https://film.example/" title="A film"></iframe>',
    );
    // the owner has chosen before, and a decision of theirs could not be sent
    await page.goto(widget.address);
    await click(page, 'Accept all');
    await widget.records(1);
    const own = await consentIn(page);
    const id = makeIdAt(Date.now() - 60_000);
    const unsent = JSON.stringify({ decision: 'reject_all', id });
    await page.evaluate(
      ([name, body]) => {
        localStorage.setItem(name, body);
        localStorage.setItem('basket', 'full');
      },
      [`assent.${widget.stack.domainId}.queue.${id}`, unsent] as const,
    );
    const sent: (string | null)[] = [];
    await context.route('**/record', (route) => {
      sent.push(route.request().postData());
      return route.fulfill({ status: 503, headers: { 'access-control-allow-origin': '*' } });
    });

    await page.goto(`${faulty}#assent-check=${await api().ticket()}`);
    await heading(page, 'Check my site').waitFor();
    // nothing happens before Start
    expect(await kept(page, 'basket')).toEqual(['full']);
    await walk(page, faulty, { before: 'facebook', rejected: 'criteo', accepted: 'licdn' });

    const findings = findingsOf((await api().stored()).steps);
    const faults = findings.filter(({ level }) => level === 'fault');
    const both = ['before', 'rejected'];
    expect(Object.fromEntries(faults.map(({ about, steps }) => [about, steps]))).toEqual({
      'Consent Mode': [...both, 'accepted'],
      _ga_X: both,
      'connect.facebook.net': both,
      'script from pixel.example': both,
      'iframe “A film” from film.example': both,
      'www.google-analytics.com': both,
      'static.criteo.net': ['rejected'],
    });
    await heading(page, /^7 faults$/).waitFor();
    await page.getByText('The site contacted connect.facebook.net (Facebook)').first().waitFor();
    const link = page.getByRole('link', { name: 'See it in the dashboard' });
    const { api: service, domainId } = widget.stack;
    expect(await link.getAttribute('href')).toBe(
      `${service.baseUrl}/domains/${domainId}/checks?check=${(await api().stored()).checkId}`,
    );
    await click(page, 'Close');
    await expect.poll(() => consentIn(page)).toEqual(own);
    expect(await kept(page, '.queue.')).toEqual([unsent]);
    expect(await kept(page, 'basket')).toEqual([]);
    expect(await page.evaluate(() => sessionStorage.getItem('assent.check'))).toBeNull();
    expect(new Set([...sent, unsent])).toEqual(new Set([unsent]));
  });

  it('finds no fault on a site that does it right', async () => {
    const { context, page } = await widget.visit();
    await answerAll(context);
    const address = widget.add(
      '/right',
      `<script src="${widget.stack.api.baseUrl}/consent-mode.js"></script>` +
        "<script>function gtag() { dataLayer.push(arguments); } gtag('js', new Date()); gtag('config', 'G-1');</script>" +
        config(settings) +
        widget.tag() +
        load('https://www.googletagmanager.com/gtag/js?id=G-1') +
        load('https://js.stripe.com/v3/') +
        load('https://www.google.com/recaptcha/api.js') +
        load('https://cdn.jsdelivr.net/npm/a.js') +
        '<link rel="stylesheet" href="https://fonts.googleapis.com/css2?family=Inter">' +
        `<script>
          const ping = () => fetch('https://www.google-analytics.com/g/collect?gcd=1&gcs=G1' + (window.assent?.isAllowed('marketing') ? '11' : '00'), { mode: 'no-cors' });
          ping();
          document.addEventListener('assent:change', ping);
        </script>` +
        '<script type="text/plain" data-assent="marketing" src="https://connect.facebook.net/f.js"></script>',
      '<iframe data-assent="marketing" data-src="/film" title="A film"></iframe><img data-assent="marketing" data-src="/pixel" alt="">',
    );
    await walk(page, address, { before: 'stripe', rejected: 'jsdelivr', accepted: 'facebook' });
    await heading(page, 'No faults found').waitFor();
    const { steps } = await api().stored();
    const levels = findingsOf(steps).map(({ level }) => level);
    expect(new Set(levels)).toEqual(new Set(['hint', 'information']));
    expect(steps.map(({ google }) => google.map(({ gcs }) => gcs).includes('G111'))).toEqual([false, false, true]);
    expect(steps.map(({ held }) => held)).toEqual([3, 3, 0]);
  });

  it('offers the result as text where the site’s policy keeps the service out', async () => {
    const { page } = await widget.visit();
    const { baseUrl } = widget.stack.api;
    const policy = `script-src 'unsafe-inline' ${baseUrl}; connect-src 'self'`;
    const address = widget.add(
      '/strict',
      `<meta http-equiv="Content-Security-Policy" content="${policy}">${widget.tag()}`,
    );
    await begin(page, address);
    await click(page, 'Reject all');
    await click(page, 'Next');
    await heading(page, 'Step 3 of 3').waitFor();
    await click(page, 'Accept all');
    await click(page, 'Finish');
    await page.getByText('The result was not stored').waitFor();
    const text = await page.getByRole('textbox', { name: 'Result to copy' }).inputValue();
    expect(JSON.parse(text)).toMatchObject({ origin: widget.site.origin, steps: [{}, {}, {}] });
    expect(await api().count()).toBe(0);
  });

  it('another choice than the one of the step begins it again; stopping brings the own choice back', async () => {
    const { page } = await widget.visit();
    await page.goto(widget.address);
    await click(page, 'Reject all');
    const own = await consentIn(page);
    await begin(page, widget.address);
    await click(page, 'Accept all');
    await heading(page, 'That was another choice').waitFor();
    await click(page, 'Start this step again');
    await heading(page, 'Step 1 of 3').waitFor();
    await click(page, 'Stop the check');
    await expect.poll(() => consentIn(page)).toEqual(own);
    expect(await api().count()).toBe(0);
  });

  it('leads through the settings where there is no banner, also for a browser that has already refused', async () => {
    const { context, page } = await widget.visit();
    await go(context, 'Los Angeles');
    await begin(page, widget.add('/opt-out', config({ regions }) + widget.tag()));
    // no banner asks here, so the step opens the settings
    await click(page, 'Next');
    await click(page, 'Reject all');
    await heading(page, 'Step 2 of 3').waitFor();
    await click(page, 'Stop the check');
    const address = widget.add('/signal', signal + config({ regions }) + widget.tag());
    await begin(page, address);
    await page.getByText('This browser has already refused').waitFor();
    await click(page, 'Next');
    await heading(page, 'Step 2 of 3').waitFor();
    await click(page, 'Next');
    await heading(page, 'Step 3 of 3').waitFor();
    await click(page, 'Open the privacy settings');
    await click(page, 'Accept all');
    await click(page, 'Allow again');
    await click(page, 'Finish');
    await heading(page, 'No faults found').waitFor();
    expect(await api().stored()).toMatchObject({ model: 'opt_out', gpc: true, steps: [{}, {}, {}] });
  });

  it('can be walked with the keyboard: the box comes after the banner, and keeps the focus when its content changes', async () => {
    const { page } = await widget.visit();
    await page.goto(`${widget.address}#assent-check=${await api().ticket()}`);
    await page.getByRole('button', { name: 'Customise' }).focus();
    await page.keyboard.press('Tab');
    await hasFocus(page.locator('assent-check'));
    await page.keyboard.press('Enter');
    await heading(page, 'Step 1 of 3').waitFor();
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    // in the banner
    await hasFocus(page.locator('assent-widget'));
    await page.getByRole('button', { name: 'Reject all' }).press('Enter');
    await page.getByText('Open a few pages').waitFor();
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    await heading(page, 'Step 3 of 3').waitFor();
    await page.getByRole('button', { name: 'Accept all' }).press('Enter');
    await page.getByRole('button', { name: 'Finish' }).press('Enter');
    await page.getByRole('link', { name: 'See it in the dashboard' }).waitFor();
    await hasFocus(page.locator('assent-check'));
  });

  it('is not loaded without a ticket, and notes many hosts and long names without harm', async () => {
    const { context, page } = await widget.visit();
    await answerAll(context);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(widget.address);
    await expect.poll(() => asked.join()).toContain('/assent-preferences-');
    expect(asked.join()).not.toContain('/assent-check-');
    const address = widget.add(
      '/many',
      widget.tag() +
        `<script>
          for (let at = 0; at < 240; at += 1) new Image().src = 'https://h' + at + '.example/';
          new Image().src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
          new Image().src = URL.createObjectURL(new Blob(['']));
          localStorage.setItem('x'.repeat(4000), '1');
          localStorage.setItem('__proto__', '1');
        </script>`,
    );
    await walk(page, address, { before: 'h239.example', rejected: 'h239.example', accepted: 'h239.example' });
    const [before] = (await api().stored()).steps;
    expect([before?.hosts.length, before?.moreHosts]).toEqual([150, 90]);
    expect(before?.storage.sort()).toEqual(['__proto__', 'x'.repeat(128)]);
  });
});
