/** What pages embed waits for consent, and an iframe's placeholder asks for it. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { painted } from '../support/browser/browser.ts';
import { html } from '../support/browser/site.ts';
import { consentIn, documentOf, useWidget } from '../support/browser/widget.ts';
import { useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('an embed that waits', () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi);
  const frames = ['/video', '/map', '/frame-in-shadow', '/bare', '/pixel'];
  const files = ['/shot.png', '/film.mp4', '/embedded', '/object', '/style.css'];
  const pressed = '<button style="position:fixed;inset:0" onclick="parent.seen.push(\'pressed\')">Play</button>';
  beforeEach(() => {
    for (const name of frames) widget.site.add(name, html('', pressed));
    for (const name of files) widget.site.add(name, '');
  });

  const embeds = `
    <script>seen = []</script>
    <section id="first"><iframe id="video" data-assent="marketing" data-src="/video" title="A film" data-assent-service="Film Hall" width="480" height="270" style="border:0"></iframe></section>
    <section id="second"></section>
    <iframe id="map" data-assent="marketing" data-src="/map" style="width:60%;height:200px;border:0" title="A <b>map</b>"></iframe>
    <div id="shadow"></div>
    <script>document.getElementById('shadow').attachShadow({ mode: 'open' }).innerHTML =
      '<iframe data-assent="marketing" data-src="/frame-in-shadow" width="300" height="200"></iframe>';</script>
    <iframe id="bare" data-assent="marketing" data-src="/bare" data-assent-placeholder="none"></iframe>
    <iframe data-assent="marketing" data-src="/pixel" width="1" height="1"></iframe>
    <iframe data-assent="marketing"></iframe>
    <iframe data-assent="marketing" data-src="javascript:parent.seen.push('script')"></iframe>
    <iframe data-assent="marketing" data-src="data:text/html,x"></iframe>
    <img data-assent="marketing" data-src="/shot.png" data-href="/elsewhere" alt="A shot">
    <video data-assent="marketing" data-src="/film.mp4" muted></video>
    <embed data-assent="marketing" data-src="/embedded" type="text/html">
    <object data-assent="marketing" data-src="/object" type="text/html"></object>
    <link rel="stylesheet" data-assent="marketing" data-href="/style.css">`;

  const watch = (page: Page) => {
    const asked = new Set<string>();
    page.on('request', (each) => asked.add(new URL(each.url()).pathname));
    return asked;
  };
  const boxes = (page: Page) => page.locator('assent-embed');
  const placeholder = (page: Page, name: string) => page.getByRole('group', { name, exact: true });
  const sizeOf = async (page: Page, selector: string) => {
    const { width, height } = (await page.locator(selector).boundingBox()) ?? {};
    return { width, height };
  };

  it('shows a placeholder of its own size, which goes where a script moves it, and can be shown once', async () => {
    const { page } = await widget.visit();
    const asked = watch(page);
    await page.goto(widget.add('/waiting', widget.tag(), embeds));
    const film = placeholder(page, 'Film Hall');
    await film.getByText('Allow Marketing to see this content.').waitFor();
    // markup stays text; the others have no title, or are not to be seen
    await placeholder(page, 'A <b>map</b>').waitFor();
    await placeholder(page, new URL(widget.site.origin).host).waitFor();
    expect(await boxes(page).count()).toBe(3);
    expect(await sizeOf(page, '#first .embed')).toEqual({ width: 480, height: 270 });
    const share = await page.evaluate(() => (document.querySelector('main')?.clientWidth ?? 0) * 0.6);
    expect(await sizeOf(page, '#map >> xpath=preceding-sibling::assent-embed[1] >> .embed')).toEqual({
      width: expect.closeTo(share, 0),
      height: 200,
    });
    expect([...frames, ...files].filter((path) => asked.has(path))).toEqual([]);

    await page.evaluate(() => document.querySelector('#second')?.append(document.querySelector('#video') ?? ''));
    await page.locator('#second > assent-embed + #video').waitFor({ state: 'attached' });
    expect(await page.locator('#first > *').count()).toBe(0);

    // the second of two quick presses does not reach what has come, however quick that was: the time between them stands
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const session = await page.context().newCDPSession(page);
    await session.send('Animation.enable');
    const button = film.getByRole('button', { name: 'Show once' });
    await button.hover();
    await session.send('Animation.setPlaybackRate', { playbackRate: 0 });
    const box = await button.boundingBox();
    const press = () => page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 10);
    await press();
    const frame = page.frameLocator('#video');
    await frame.getByRole('button', { name: 'Play' }).waitFor();
    await painted(frame.locator('body'));
    await press();
    expect(await sizeOf(page, '#video')).toEqual({ width: 480, height: 270 });
    expect(await page.evaluate(() => window.seen)).toEqual([]);
    expect(await boxes(page).count()).toBe(2);
    expect(asked.has('/map')).toBe(false);
    expect(await consentIn(page)).toBeNull();
    await session.send('Animation.setPlaybackRate', { playbackRate: 1 });
    await eventually(async () => {
      await press();
      expect(await page.evaluate(() => window.seen)).toContain('pressed');
    });
    // nothing of it is kept
    await page.reload();
    await film.waitFor();
  });

  it('can be allowed for good, which is recorded with what the placeholder said, shows all that wait for it, and keeps what else was allowed', async () => {
    const { page } = await widget.visit.again();
    const asked = watch(page);
    const size = 'width="400" height="200"';
    const others = `<iframe title="Other" data-assent="maps" data-src="/map" ${size}></iframe>
      <iframe title="Counter" data-assent="analytics" data-src="/bare" ${size}></iframe>`;
    const tag = widget.tag({ 'data-categories': 'analytics marketing' });
    await page.goto(widget.add('/allowed', tag, embeds + others));
    // with the border that an iframe has by itself
    await page.locator('#shadow .embed').waitFor();
    const bordered = await sizeOf(page, '#shadow .embed');
    // two buttons fit where the text does not
    const film = placeholder(page, 'Film Hall');
    await page.locator('#video').evaluate((video) => video.setAttribute('width', '200'));
    await page.locator('#video').evaluate((video) => video.setAttribute('height', '100'));
    await page.evaluate(() => dispatchEvent(new Event('resize')));
    const box = await page.locator('#first .embed').boundingBox();
    for (const button of await film.getByRole('button').all()) {
      const { y = 0, height = 0 } = (await button.boundingBox()) ?? {};
      expect(y).toBeGreaterThanOrEqual(box?.y ?? Infinity);
      expect(y + height).toBeLessThanOrEqual((box?.y ?? 0) + 100);
    }
    await film.getByRole('button', { name: 'Always allow Marketing' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await sizeOf(page, '#shadow iframe')).toEqual(bordered);
    await page.frameLocator('#video').getByRole('button', { name: 'Play' }).waitFor();
    await expect.poll(() => [...asked].sort()).toEqual(expect.arrayContaining([...frames, ...files]));
    expect(await boxes(page).count()).toBe(2);
    expect(await page.evaluate(() => window.seen)).toEqual([]);
    const [record] = await widget.records(1);
    expect(record).toMatchObject({
      decision: 'custom',
      source: 'preferences',
      preferences: { analytics: false, marketing: true },
    });
    const notice = JSON.parse(await documentOf(widget.stack, record?.notice));
    expect(notice).toMatchObject({
      title: 'Film Hall',
      intro: 'Allow Marketing to see this content.',
      buttons: ['Show once', 'Always allow Marketing'],
    });

    // nothing for good that the banner does not ask for
    expect(await placeholder(page, 'Other').getByRole('button').allTextContents()).toEqual(['Show once']);
    await placeholder(page, 'Counter').getByRole('button', { name: 'Always allow Statistics' }).click();
    const records = await widget.records(2);
    // all of them: but nobody has accepted all
    expect(records[1]).toMatchObject({ decision: 'custom', preferences: { analytics: true, marketing: true } });
  });
});
