import { createHash } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { bannerRoutes } from '#libs/banner/routes';
import type { Route } from '#libs/base/http/routes';
import type { Slots } from '#libs/base/slots';
import { makeIdAt } from '#libs/base/terms/calendar';
import { scopes } from '#libs/base/terms/terms';
import { currentRoutes } from '#libs/current/routes';
import { logRoutes } from '#libs/log/routes';
import { noticeRoutes } from '#libs/notices/routes';
import { peopleRoutes } from '#libs/people/routes';
import type { Erasure } from '#libs/privacy/contract';
import { privacyRoutes } from '#libs/privacy/routes';
import { proofRoutes } from '#libs/proof/routes';
import { statsRoutes } from '#libs/stats/routes';
import { manageRoutes } from '#libs/tenants/routes';
import { createSharedSlots } from '#libs/tenants/shared-slots';
import { webhookRoutes } from '#libs/webhooks/routes';
import { createOpenApi } from '../../apps/api/openapi.ts';
import { request, tokenFor } from '../support/client.ts';
import { startApi } from '../support/service.ts';
import { useStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

type Name = 'reads' | 'statistics' | 'current' | 'changes';
const taken: Name[] = [];
/** of which one that waited went on, or waits no more */
const waited: Name[] = [];
const watched = (name: Name, slots: Slots): Slots => ({
  ...slots,
  tryTake: (key) => {
    taken.push(name);
    return slots.tryTake(key);
  },
  take: (key, signal) => slots.take(key, signal).finally(() => waited.push(name)),
});
const slots = createSharedSlots();
const stack = await useStack();
const api = await startApi(stack.env, {
  slots: {
    ...slots,
    reads: watched('reads', slots.reads),
    statistics: watched('statistics', slots.statistics),
    current: watched('current', slots.current),
    changes: watched('changes', slots.changes),
  },
});
const authorization = `Bearer ${tokenFor(stack.tenant.organizationId, { scope: scopes.join(' ') })}`;
afterEach(() => taken.splice(0));

/** Of nothing that there is, but of the right form. */
const params: Record<string, string> = {
  domainId: stack.domainId,
  recordId: makeIdAt(0),
  visitorId: 'v',
  erasureId: `ers_${'0'.repeat(20)}`,
  webhookId: `wh_${'0'.repeat(20)}`,
  hash: '0'.repeat(64),
  prefix: 'ak_00000000',
  level: '0',
  tile: '000',
  position: '0',
  version: '1',
  personId: `per_${'0'.repeat(20)}`,
  passkeyId: `pky_${'0'.repeat(20)}`,
  checkId: `chk_${'0'.repeat(20)}`,
};
const queryOf = ({ path }: Route): string => {
  if (path.endsWith('/stats')) return '?from=2026-01-01&to=2026-01-02';
  return path.endsWith('/consistency') ? '?from=1&to=1' : '';
};

const all = { ...statsRoutes, ...logRoutes, ...proofRoutes, ...noticeRoutes, ...privacyRoutes, ...manageRoutes };
const rows = Object.entries<Route>({
  ...all,
  ...currentRoutes,
  ...bannerRoutes,
  ...webhookRoutes,
  ...peopleRoutes,
}).map(([name, row]) => ({ name, row }));
const placeOf = {
  ...{ reads: 'reads', statistics: 'statistics', current: 'current' },
  ...{ changes: 'changes', revocations: 'changes' },
} as const;

it.each(rows)('a request of $name takes the slot that its row names, and first', async ({ row }) => {
  const path = row.path.replaceAll(/[:*](\w+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`no value for the path parameter ${name}`);
    return value;
  });
  const response = await request(api.baseUrl, path + queryOf(row), {
    method: row.method.toUpperCase(),
    headers: { authorization, ...(row.body && { 'content-type': 'application/json' }) },
    body: row.body ? JSON.stringify(row.body.example) : null,
  });
  expect(response.status).not.toBe(500);
  // what is `own` takes it for a part of its work, or for none
  if (row.limits === 'own') return;
  expect([response.status, taken[0]]).toEqual([response.status, placeOf[row.limits]]);
});

it('these are all rows that a token opens', () => {
  const { paths = {} } = createOpenApi();
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const withToken = operations.filter(({ security = [] }) => security.length === 1 && 'accessToken' in security[0]);
  expect(withToken.map(({ operationId }) => operationId).sort()).toEqual([...rows.map(({ name }) => name)].sort());
});

it('an erasure begins without a slot, and is answered before there is one', async () => {
  const { organizationId } = await makeTenant(stack.db);
  const held = Array.from({ length: 3 }, () => slots.changes.tryTake(organizationId));
  const headers = { authorization: `Bearer ${tokenFor(organizationId, { scope: 'privacy' })}` };
  const path = '/v1/organization/visitors/v';
  const response = await request<Erasure>(api.baseUrl, path, { method: 'DELETE', headers });
  expect(response).toMatchObject({ status: 202, body: { state: 'running', records: 0 } });
  for (const leave of held) leave?.();
  const begun = await request(api.baseUrl, `/v1/organization/erasures/${response.body.erasureId}`, { headers });
  expect(begun.status).toBe(200);
});

it('a notice whose client leaves before its turn is not known', async () => {
  const { organizationId, domainIds, apiKeys } = await makeTenant(stack.db);
  const held = Array.from({ length: 3 }, () => slots.changes.tryTake(organizationId));
  const document = JSON.stringify({ language: 'de', version: '1', title: 'Cookies' });
  const hash = createHash('sha256').update(document).digest('hex');
  const path = `/v1/consent/${domainIds[0]}/notices/${hash}`;
  const headers = { 'content-type': 'application/json' };
  const leaving = new AbortController();
  const { signal } = leaving;
  const authorization = `Bearer ${tokenFor(organizationId, { scope: 'manage' })}`;
  const withToken = { method: 'PUT', headers: { ...headers, authorization }, body: document };
  const left = fetch(api.baseUrl + path, { ...withToken, signal }).catch(() => 'left');
  await eventually(() => expect(taken).toEqual(['changes']));
  leaving.abort();
  expect(await left).toBe('left');
  await eventually(() => expect(waited).toEqual(['changes']));
  await new Promise((resolve) => setImmediate(resolve));
  for (const leave of held) leave?.();
  const withKey = { ...headers, 'x-api-key': apiKeys[0] ?? '' };
  const put = await request(api.baseUrl, path, { method: 'PUT', headers: withKey, body: document });
  expect(put.status).toBe(201);
});
