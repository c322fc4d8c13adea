/** What a page of another site can do while somebody is signed in to the dashboard: nothing. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite } from '../support/browser/site.ts';
import { request, tokenFor } from '../support/client.ts';
import { type StackWithApi, useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

interface Changing {
  method: string;
  address: string;
}

describe('a page of another site, beside a dashboard that is signed in', () => {
  const visit = useBrowser();
  let stack: StackWithApi;
  let site: Site;
  let changing: Changing[];

  beforeAll(async () => {
    // its refusals count for this address alone
    stack = await useStackWithApi({ tenant: { domains: 1 } });
    site = await startSite();
    const { body } = await stack.client.get<{ paths: Record<string, object> }>('/openapi.json');
    const filled = (path: string) => path.replace('{domainId}', stack.domainId).replace(/\{\w+\}/g, 'x');
    changing = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => ({ method: method.toUpperCase(), address: stack.api.baseUrl + filled(path) })),
    );
  });

  const authorization = () =>
    `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'read manage privacy import' })}`;
  /** All that could have been changed. */
  const state = async () => {
    const init = { headers: { authorization: authorization() } };
    const parts = ['domains', `domains/${stack.domainId}/keys`, 'webhooks', 'acts'].map(
      async (of) => (await request(stack.api.baseUrl, `/v1/organization/${of}`, init)).body,
    );
    return [...(await Promise.all(parts)), (await stack.client.records(stack.domainId)).body];
  };
  /** The other site in a second tab of the same browser, and every answer to what it sends. */
  const comeAlong = async (path: string, body: string) => {
    const { page, context } = await visit();
    await page.goto(`${stack.api.baseUrl}/#token=${authorization().split(' ')[1]}`);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    const other = await context.newPage();
    const answers: { method: string; status: number }[] = [];
    other.on('response', (response) => {
      const method = response.request().method();
      if (response.url().startsWith(stack.api.baseUrl) && method !== 'OPTIONS')
        answers.push({ method, status: response.status() });
    });
    await other.goto(site.add(path, html('', body)));
    return { other, answers };
  };
  const sendForms = (page: Page, all: Changing[]) =>
    page.evaluate((each) => {
      for (const [index, { address }] of each.entries())
        for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
          const frame = document.createElement('iframe');
          frame.name = `${index} ${enctype}`;
          const form = document.createElement('form');
          Object.assign(form, { action: address, method: 'post', enctype, target: frame.name });
          const field = document.createElement('input');
          Object.assign(field, { name: '{"name":"theirs","decision":"custom","a":"', value: '"}' });
          form.append(field);
          document.body.append(frame, form);
          form.submit();
        }
    }, all);
  /** What a script of the page can read, each way in which it can ask. */
  const fetchAll = (page: Page, all: Changing[]) =>
    page.evaluate(
      (each) =>
        Promise.all(
          each.flatMap(({ method, address }) => {
            const body = '{"name":"theirs","decision":"custom"}';
            const credentials = 'include';
            const headers = { 'content-type': 'application/json', 'x-api-key': 'ak_guessed' };
            return [
              fetch(address, { method, body, credentials, headers }),
              fetch(address, { method, body, credentials, headers: { ...headers, authorization: 'Bearer x' } }),
              fetch(address, { method: 'POST', body, credentials, mode: 'no-cors' }),
            ].map((answer) =>
              answer.then(
                ({ type }) => type,
                () => 'blocked',
              ),
            );
          }),
        ),
      all,
    );

  it('changes nothing by its forms, and reads nothing by its scripts', async () => {
    expect(changing.length).toBeGreaterThan(15);
    const before = await state();
    const { other, answers } = await comeAlong('/forms', '');
    await sendForms(other, changing);
    await eventually(() => expect(answers.length).toBe(3 * changing.length), { within: 30_000 });
    const read = await fetchAll(other, changing);
    // pages record and tell of displays, so only these answers may be loaded by other sites
    const isRecording = ({ address }: Changing) => /\/(record|displays)$/.test(address);
    expect(read).toEqual(changing.flatMap((each) => ['blocked', 'blocked', isRecording(each) ? 'opaque' : 'blocked']));
    expect(answers.filter(({ status }) => status < 400 || status >= 500)).toEqual([]);
    expect(await state()).toEqual(before);
  });

  it('frames none of the pages', async () => {
    const pages = ['/', '/domains', '/sign-in', '/docs', '/verify', '/demo', '/openapi.json', '/v1/sign-in'];
    const frames = pages.map((path) => `<iframe src="${stack.api.baseUrl}${path}"></iframe>`).join('');
    const { other } = await comeAlong('/frames', `${frames}<iframe src="/own"></iframe>`);
    site.add('/own', html(''));
    await eventually(() =>
      expect(
        other
          .frames()
          .slice(1)
          .map((frame) => frame.url()),
      ).toEqual([...pages.map(() => 'chrome-error://chromewebdata/'), `${site.origin}/own`]),
    );
  });
});
