/** What a page of another site can do while somebody is signed in to the dashboard: nothing. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import { html, startSite } from '../support/browser/site.ts';
import { request, tokenFor } from '../support/client.ts';
import { useStackWithApi } from '../support/stack.ts';

interface Changing {
  method: string;
  address: string;
}

// its refusals count for this address alone
const stack = await useStackWithApi();
const site = await startSite();
const { body } = await stack.client.get<{ paths: Record<string, object> }>('/openapi.json');
const filled = (path: string) => path.replace('{domainId}', stack.domainId).replace(/\{\w+\}/g, 'x');
const changing = Object.entries(body.paths).flatMap(([path, methods]) =>
  Object.keys(methods)
    .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
    .map((method) => ({ method: method.toUpperCase(), address: stack.api.baseUrl + filled(path) })),
);

describe('a page of another site, beside a dashboard that is signed in', () => {
  const visit = useBrowser();

  const token = () => tokenFor(stack.tenant.organizationId, { scope: 'read manage privacy import' });
  /** All that could have been changed. */
  const state = async () => {
    const init = { headers: { authorization: `Bearer ${token()}` } };
    const parts = ['domains', `domains/${stack.domainId}/keys`, 'webhooks', 'acts'].map(
      async (of) => (await request(stack.api.baseUrl, `/v1/organization/${of}`, init)).body,
    );
    return [...(await Promise.all(parts)), (await stack.client.records(stack.domainId)).body];
  };
  /** What a script of the page can read, each way in which it can ask. */
  const fetchAll = (page: Page) =>
    page.evaluate((all) => {
      const body = '{"name":"theirs","decision":"custom"}';
      const headers = { 'content-type': 'application/json', 'x-api-key': 'ak_guessed', authorization: 'Bearer x' };
      const ask = (address: string, init: RequestInit) =>
        fetch(address, { body, credentials: 'include', ...init }).then(
          ({ type }) => type,
          () => 'blocked',
        );
      const inEachWay = ({ method, address }: Changing) => [
        ask(address, { method, headers }),
        ask(address, { method: 'POST', mode: 'no-cors' }),
      ];
      return Promise.all(all.flatMap(inEachWay));
    }, changing);

  // the second way is also what a form can send: text that could be taken for JSON
  it('changes nothing, and reads nothing', async () => {
    expect(changing.length).toBeGreaterThan(15);
    const before = await state();
    const { page, context } = await visit();
    await page.goto(`${stack.api.baseUrl}/#token=${token()}`);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    const other = await context.newPage();
    await other.goto(site.add('/', html('')));
    const read = await fetchAll(other);
    // pages record, count displays and check themselves, so only these answers may be loaded by other sites
    const isRecording = ({ address }: Changing) => /\/(record|displays|checks|checks\/hosts)$/.test(address);
    expect(read).toEqual(changing.flatMap((each) => ['blocked', isRecording(each) ? 'opaque' : 'blocked']));
    expect(await state()).toEqual(before);
  });
});
