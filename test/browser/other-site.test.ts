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
    stack = await useStackWithApi();
    site = await startSite();
    const { body } = await stack.client.get<{ paths: Record<string, object> }>('/openapi.json');
    const filled = (path: string) => path.replace('{domainId}', stack.domainId).replace(/\{\w+\}/g, 'x');
    changing = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => ({ method: method.toUpperCase(), address: stack.api.baseUrl + filled(path) })),
    );
  });

  const token = () => tokenFor(stack.tenant.organizationId, { scope: 'read manage privacy import' });
  /** All that could have been changed. */
  const state = async () => {
    const init = { headers: { authorization: `Bearer ${token()}` } };
    const parts = ['domains', `domains/${stack.domainId}/keys`, 'webhooks', 'acts'].map(
      async (of) => (await request(stack.api.baseUrl, `/v1/organization/${of}`, init)).body,
    );
    return [...(await Promise.all(parts)), (await stack.client.records(stack.domainId)).body];
  };
  /** The one form that could be taken for JSON: the name and the value of its field are an object together. */
  const sendForms = (page: Page) =>
    page.evaluate((all) => {
      for (const [index, { address }] of all.entries()) {
        const frame = Object.assign(document.createElement('iframe'), { name: `frame ${index}` });
        const form = document.createElement('form');
        Object.assign(form, { action: address, method: 'post', enctype: 'text/plain', target: frame.name });
        const field = document.createElement('input');
        form.append(Object.assign(field, { name: '{"name":"theirs","decision":"custom","a":"', value: '"}' }));
        document.body.append(frame, form);
        form.submit();
      }
    }, changing);
  /** What a script of the page can read, each way in which it can ask. */
  const fetchAll = (page: Page) =>
    page.evaluate((all) => {
      const body = '{"name":"theirs","decision":"custom"}';
      const headers = { 'content-type': 'application/json', 'x-api-key': 'ak_guessed' };
      const asked = all.flatMap(({ method, address }) => [
        fetch(address, { method, body, credentials: 'include', headers: { ...headers, authorization: 'Bearer x' } }),
        fetch(address, { method: 'POST', body, credentials: 'include', mode: 'no-cors' }),
      ]);
      return Promise.all(
        asked.map((answer) =>
          answer.then(
            ({ type }) => type,
            () => 'blocked',
          ),
        ),
      );
    }, changing);

  it('changes nothing by its forms, and reads nothing by its scripts', async () => {
    expect(changing.length).toBeGreaterThan(15);
    const before = await state();
    const { page, context } = await visit();
    await page.goto(`${stack.api.baseUrl}/#token=${token()}`);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    const other = await context.newPage();
    const statuses: number[] = [];
    other.on('response', (response) => {
      if (response.request().method() === 'POST' && response.url().startsWith(stack.api.baseUrl))
        statuses.push(response.status());
    });
    await other.goto(site.add('/forms', html('')));
    await sendForms(other);
    await eventually(() => expect(statuses.length).toBe(changing.length));
    const read = await fetchAll(other);
    // pages record and tell of displays, so only these answers may be loaded by other sites
    const isRecording = ({ address }: Changing) => /\/(record|displays)$/.test(address);
    expect(read).toEqual(changing.flatMap((each) => ['blocked', isRecording(each) ? 'opaque' : 'blocked']));
    expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
    expect(await state()).toEqual(before);
  });
});
