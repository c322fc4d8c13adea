import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { issueTicket } from '#libs/banner/check-ticket';
import type { ChecksPage, ListedCheck, ShownCheck } from '#libs/banner/contract';
import { checkBody } from '#libs/banner/examples';
import type { ActsPage } from '#libs/tenants/contract';
import { createPublisher } from '../support/banner.ts';
import { createAsk, type ProblemAnswer, request } from '../support/client.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { secretsKey } from '../support/settings.ts';
import { type StackWithApi, useStackWithApi, withOwnDomain } from '../support/stack.ts';

const stack = await useStackWithApi({
  env: { CHANGE_RATE_PER_MINUTE: '0', READ_RATE_PER_MINUTE: '0', DISPLAY_RATE_PER_MINUTE: '0' },
});
const { organizationId } = stack.tenant;
const ask = createAsk(stack.api.baseUrl, organizationId, { scope: 'publish' });
const manage = createAsk(stack.api.baseUrl, organizationId, { scope: 'manage' });
const origin = 'https://shop.example';

async function newSite(origins: string[] = []) {
  const { domainId } = await withOwnDomain<StackWithApi>(stack, origins);
  const path = `/v1/organization/domains/${domainId}`;
  return {
    domainId,
    path,
    ticket: async () => (await ask<{ ticket: string; expiresAt: string }>('POST', `${path}/check-ticket`)).body,
    post: <Body>(what: 'checks' | 'checks/hosts', body: object, headers: Record<string, string> = {}) =>
      request<Body & ProblemAnswer>(stack.api.baseUrl, `/v1/consent/${domainId}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin, ...headers },
        body: JSON.stringify(body),
      }),
    list: async (query = '') => (await ask<ChecksPage>('GET', `${path}/checks?${query}`)).body,
    show: (checkId: string) => ask<ShownCheck>('GET', `${path}/checks/${checkId}`),
  };
}
const { ticket: _, ...result } = checkBody;
const [step] = result.steps;

it('a ticket stores one result, with the owners of hosts, its SHA-256 and the banner that was live, as an act', async () => {
  const { domainId, ticket: newTicket, post, list, show } = await newSite();
  const before = Date.now();
  const { ticket, expiresAt } = await newTicket();
  const minutes = (Date.parse(expiresAt) - before) / 60_000;
  expect(minutes).toBeGreaterThanOrEqual(15);
  expect(minutes).toBeLessThan(15.5);
  await createPublisher({ ...stack, domainId }).publish({ company: 'Shop' });
  const stored = await post<ListedCheck>('checks', { ticket, ...result });
  expect([stored.status, stored.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
  const { checkId, sha256 } = stored.body;
  expect(stored.body).toMatchObject({ by: 'tester', bannerVersion: 1 });
  const shown = await show(checkId);
  expect(createHash('sha256').update(JSON.stringify(shown.body.result)).digest('hex')).toBe(sha256);
  expect(shown.body.result.steps[0]?.hosts).toEqual([
    { host: 'connect.facebook.net', requests: 2, known: { owner: 'Facebook', kind: 'social' } },
  ]);
  expect((await list()).checks).toEqual([stored.body]);
  const { acts } = (await manage<ActsPage>('GET', '/v1/organization/acts?act=site.check')).body;
  expect(acts[0]).toMatchObject({ actor: 'tester', subject: domainId, details: { checkId, sha256, bannerVersion: 1 } });
  // no answer came, and the page sends it again
  const again = await post<ListedCheck>('checks', { ticket, ...result });
  expect([again.status, again.body]).toEqual([200, stored.body]);
  // another tab of the same check
  expectProblem(await post('checks', { ticket, ...result, gpc: true }), 401, 'invalid_ticket');
});

it('a ticket that is late, of another domain, or none is refused', async () => {
  const { domainId, post } = await newSite();
  const other = await newSite();
  const key = Buffer.from(secretsKey, 'hex');
  const late = issueTicket(key, { domainId, actor: 'x', now: Date.now() - 15 * 60_000 });
  const tickets = [late.ticket, (await other.ticket()).ticket, 'x', ''];
  for (const ticket of tickets) {
    expectProblem(await post('checks', { ticket, ...result }), 401, 'invalid_ticket');
    expectProblem(await post('checks/hosts', { ticket, hosts: [] }), 401, 'invalid_ticket');
  }
  expectProblem(await request(stack.api.baseUrl, '/v1/consent/dom_x/checks', { method: 'POST' }), 404, 'not_found');
});

it('an origin that may not record may not check', async () => {
  const site = await newSite(['https://other.example']);
  const { ticket } = await site.ticket();
  expectProblem(await site.post('checks', { ticket, ...result }), 403, 'origin_not_allowed');
  const allowed = await site.post('checks', { ticket, ...result }, { origin: 'https://other.example' });
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([201, 'https://other.example']);
});

it('hosts are looked up with the domains above them; what nobody knows is null', async () => {
  const { ticket: newTicket, post } = await newSite();
  const { ticket } = await newTicket();
  const hosts = ['js.stripe.com', 'STATS.G.DOUBLECLICK.NET', 'fonts.gstatic.com', 'shop.example', '__proto__', 'com'];
  const { body } = await post<{ hosts: unknown }>('checks/hosts', { ticket, hosts });
  const known = [
    { owner: 'Stripe', kind: 'utility' },
    { owner: 'Google', kind: 'ad' },
    { owner: 'Google', kind: 'cdn' },
    null,
    null,
    null,
  ];
  expect(body.hosts).toEqual(hosts.map((host, at) => ({ host, known: known[at] })));
  const many = Array.from({ length: 501 }, (_, at) => `h${at}.example`);
  expectBlame(await post('checks/hosts', { ticket, hosts: many }), '/hosts');
});

it('of many hosts the most frequent stay, within 64 KiB, and the others are counted', async () => {
  const { ticket: newTicket, post, show } = await newSite();
  const { ticket } = await newTicket();
  const hosts = Array.from({ length: 500 }, (_, at) => ({
    host: `${at}.${'x'.repeat(60)}.facebook.net`,
    requests: at,
  }));
  const { checkId } = (await post<ListedCheck>('checks', { ticket, ...result, steps: [{ ...step, hosts }] })).body;
  const { steps } = (await show(checkId)).body.result;
  const [kept] = steps;
  expect(kept?.hosts).toHaveLength(250);
  expect([kept?.hosts[0]?.requests, (kept?.hosts.length ?? 0) + (kept?.moreHosts ?? 0)]).toEqual([499, 500]);
  expect(JSON.stringify(steps).length).toBeLessThan(65_536);
  const long = { ...step, cookies: [{ name: 'x'.repeat(4_000), category: null }] };
  expectBlame(await post('checks', { ticket, ...result, steps: [long] }), '/steps/0/cookies/0/name');
  expectProblem(await post('checks', { ticket, ...result, origin: 'x'.repeat(70_000) }), 413, 'payload_too_large');
});

it('a domain keeps its newest 100', async () => {
  const { ticket: newTicket, post, list, show } = await newSite();
  const ids: string[] = [];
  for (let at = 0; at < 101; at += 1)
    ids.push(
      (await post<ListedCheck>('checks', { ...(await newTicket()), expiresAt: undefined, ...result })).body.checkId,
    );
  const { checks } = await list('limit=200');
  expect(checks.map(({ checkId }) => checkId)).toEqual(ids.slice(1).reverse());
  expectProblem(await show(ids[0] ?? ''), 404, 'check_not_found');
});

it('without SECRETS_KEY there are no tickets', async () => {
  const { path } = await newSite();
  const api = await startApi({ ...stack.env, SECRETS_KEY: '' });
  const without = createAsk(api.baseUrl, organizationId, { scope: 'publish' });
  expectProblem(await without('POST', `${path}/check-ticket`), 503, 'not_configured');
});
