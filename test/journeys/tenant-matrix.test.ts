import { describe, expect, it } from 'vitest';
import { addCheck } from '#libs/banner/checks';
import { shownCheck } from '#libs/banner/examples';
import { createSecretBox } from '#libs/base/secret-box';
import { addDays, dayOf, makeIdAt } from '#libs/base/terms/calendar';
import { scopes } from '#libs/base/terms/terms';
import { readNotice } from '#libs/notices/contract';
import { putManagedNotice } from '#libs/notices/documents';
import type { Erasure } from '#libs/privacy/contract';
import { persist } from '#libs/record/persist/persist';
import { createAdministration } from '#libs/tenants/administration';
import { createPerform } from '#libs/tenants/audited-change';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import type { DeliveriesPage } from '#libs/webhooks/contract';
import { createOpenApi } from '../../apps/api/openapi.ts';
import { createPublisher } from '../support/banner.ts';
import { type Answer, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectBlame, expectProblem, indistinguishable } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { secretsKey } from '../support/settings.ts';
import { at, startStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const unknown = 'dom_00000000000000000000';
const allScopes = scopes.join(' ');
const today = dayOf(Date.now());
const tomorrow = addDays(today, 1);
const range = `from=${today}&to=${tomorrow}`;

/** Every path of the service, as its own document lists them: what is added there is tried here. */
const paths = Object.entries(createOpenApi().paths ?? {});
/** These take no token: test/place/place.test.ts, test/banner/checks.test.ts. */
const isOpen = (path: string) => /^\/v1\/consent\/\{domainId\}\/(?:place|checks)/.test(path);
const ofDomain = paths.filter(([path]) => path.includes('{domainId}') && !isOpen(path));
/** What the pages of the service sign in with, and whose account it is, is no organization's: test/people. */
const ofOrganization = paths.filter(
  ([path]) => !path.includes('{domainId}') && /^\/v1\/(?!sign-|people\/me)/.test(path),
);
const parametersOf = (operations: object): string[] =>
  Object.values(operations as Record<string, { parameters?: { name: string; in: string }[] }>)
    .flatMap(({ parameters = [] }) => parameters)
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name);

const stack = await startStack({ sealed: true });
const token = tokenFor(stack.tenant.organizationId, { scope: allScopes });
const others = await makeTenant(stack.db, { domains: 2 });
const theirs = createClient(stack.api.baseUrl, { ...others, scope: allScopes });
const theirDomain = at(others.domainIds, 0);
const records = others.domainIds.flatMap((domainId) =>
  Array.from({ length: 3 }, (_, index) =>
    recordAt(Date.now(), { domainId, visitorId: 'theirs', bot: index === 0, country: 'IS' }),
  ),
);
await persist(stack.db, records, { owe: true });
await eventually(async () => {
  expect((await theirs.stats(theirDomain, range)).body.total).toBe(3);
  expect((await theirs.records(theirDomain)).body.total).toBe(3);
});
const theirRecord = at(records, 0).id;
const notice = readNotice(Buffer.from('{"language":"is","title":"theirs"}'));
if ('refused' in notice) throw new Error(notice.refused);
const theirNotice = notice;
await putManagedNotice(createPerform(stack.db, 'test'), theirDomain, notice);
const proof = `/v1/consent/${theirDomain}/records/${theirRecord}/proof`;
await eventually(async () => expect((await theirs.get(proof)).status).toBe(200));
const byCountry = `/v1/consent/${theirDomain}/stats?${range}&by=country`;
await eventually(async () => expect(JSON.stringify(await theirs.get(byCountry))).toContain('"IS"'));
const { body: page } = await theirs.records(theirDomain, 'limit=1');
const { body: all } = await theirs.orgStats('limit=1');
const cursors = [page.nextCursor ?? '', all.nextCursor ?? ''];
expect(cursors.every((cursor) => cursor.length > 20)).toBe(true);
const authorization = `Bearer ${tokenFor(others.organizationId, { scope: allScopes })}`;
const erased = await request<Erasure>(stack.api.baseUrl, '/v1/organization/visitors/erased', {
  method: 'DELETE',
  headers: { authorization },
});
await request(stack.api.baseUrl, `/v1/consent/${theirDomain}/import`, {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/x-ndjson' },
  body: '{"decision":"custom","decidedAt":"2024-02-29T12:00:00Z"}\n',
});
const { personId } = await createAdministration(stack.db, 'test').addPerson(
  others.organizationId,
  { email: 'theirs@example.com' },
  { scopes: ['read'] },
);
const admin = createWebhookAdministration(stack.db, 'test');
const { webhook } = await admin.create(
  others.organizationId,
  { url: 'https://theirs.invalid/', types: ['records.sealed'], domains: null, decisions: null },
  createSecretBox(Buffer.from(secretsKey, 'hex')),
);
await createPublisher({ api: stack.api, tenant: others, domainId: theirDomain }).publish({ company: 'theirs' });
const theirCheck = 'chk_theirs';
await addCheck(createPerform(stack.db, 'test'), {
  domainId: theirDomain,
  checkId: theirCheck,
  by: 'x',
  result: JSON.stringify(shownCheck.result),
});
const ofTheirs = { visitorId: 'theirs', erasureId: erased.body.erasureId, webhookId: webhook.webhookId, personId };
const messageId = await admin.test(webhook);
const tried = `/v1/organization/webhooks/${webhook.webhookId}/deliveries`;
// the record that was imported may be sent, too
await eventually(async () => {
  const { deliveries } = (await theirs.get<DeliveriesPage>(tried)).body;
  expect(deliveries.map((each) => each.messageId)).toContain(messageId);
});
/** what must never be in an answer to us */
const traces = [
  ofTheirs.webhookId,
  messageId,
  'theirs.invalid',
  personId,
  'theirs@example.com',
  ofTheirs.erasureId,
  others.organizationId,
  ...others.domainIds,
  ...records.map(({ id }) => id),
  '"theirs"',
  '"IS"',
  '"is"',
  theirNotice.hash,
  ...cursors,
];

describe('of another organization', () => {
  /** For every parameter that a path may have, values that find something of theirs; 'x' where it is not the schema that refuses it. */
  const values: Record<string, string[]> = {
    from: [today],
    to: [tomorrow],
    interval: ['day', 'month'],
    by: ['country'],
    page: ['2'],
    limit: ['200'],
    cursor: [...cursors, 'x'],
    decision: ['accept_all'],
    visitorId: ['theirs'],
    bot: ['true'],
    log: ['1'],
    format: ['csv'],
    after: [theirRecord, `${theirDomain}/${theirRecord}`, 'x'],
    dryRun: ['true'],
    timeFormat: ['unix'],
    timeZone: ['UTC'],
    encoding: ['utf-8'],
    act: ['visitor.read'],
    kind: ['changes', 'reads'],
    actor: ['theirs'],
    notice: [theirNotice.hash],
    unknown: ['x'],
  };
  /** Of a domain, with something of theirs in place of every other parameter. */
  const pathOf = (template: string, domainId: string): string => {
    const given: Record<string, string> = {
      domainId,
      recordId: theirRecord,
      level: '0',
      position: '0',
      tile: '000.p/3',
      hash: theirNotice.hash,
      prefix: at(others.apiKeys, 0).slice(0, 11),
      version: '1',
      checkId: theirCheck,
      ...ofTheirs,
    };
    return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = given[name];
      if (value === undefined) throw new Error(`no value for the path parameter ${name}`);
      return value;
    });
  };
  const queries = (names: string[]): string[] => {
    const singles = [...names, 'unknown'].flatMap((name) => {
      const given = values[name];
      if (!given) throw new Error(`no value for the parameter ${name}`);
      return given.map((value) => `${name}=${encodeURIComponent(value)}`);
    });
    const withRange = names.includes('interval') ? singles.map((single) => `${range}&${single}`) : [];
    const ofDays = names.includes('from') ? [range, `${range}&visitorId=theirs&bot=true`] : [];
    return ['', ...singles, ...ofDays, ...withRange];
  };

  /** HEAD is a GET, and a path that lacks a method answers alike whatever is asked. */
  const triedOn = (operations: object, method: string): string[] => {
    const names = parametersOf(operations);
    if (method.toLowerCase() in operations) return queries(names);
    return [method === 'HEAD' && names.includes('from') ? range : ''];
  };
  const send = (method: string, path: string): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'x-request-id': 'same', 'content-type': 'application/json' },
      body: ['POST', 'PUT', 'PATCH'].includes(method) ? '{"decision":"custom"}' : null,
    });

  it('there are paths to try', () => {
    expect([ofDomain.length, ofOrganization.length]).toEqual([32, 24]);
  });

  it.each(ofDomain)(
    '%s answers for a domain as for one that does not exist, by every method',
    async (path, operations) => {
      for (const method of methods) {
        for (const query of triedOn(operations, method)) {
          const ask = (domainId: string) => send(method, `${pathOf(path, domainId)}?${query}`);
          const [foreign, none] = await Promise.all([ask(theirDomain), ask(unknown)]);
          expect([method, query, indistinguishable(foreign)]).toEqual([method, query, indistinguishable(none)]);
          // only a preflight says yes, and it says so to everyone
          expect([method, query, foreign.status < 400]).toEqual([
            method,
            query,
            method === 'OPTIONS' && foreign.status === 204,
          ]);
          if (method === 'GET' && query === range) expect([400, 404, 405]).toContain(foreign.status);
          // with what it needs, it is theirs to read
          if (method !== 'GET' || (query !== '' && query !== range)) continue;
          const own = (await theirs.get(`${pathOf(path, theirDomain)}?${query}`)).status;
          if (own === 200) expect([query, foreign.status]).toEqual([query, 404]);
        }
      }
    },
  );

  /** what our own exports were asked, as our acts have it */
  const askedOfExports = /"after":"[^"]*"/g;

  it.each(ofOrganization)('%s has nothing in it, by every method', async (path, operations) => {
    for (const method of methods) {
      for (const query of triedOn(operations, method)) {
        const response = await send(method, `${pathOf(path, unknown)}?${query}`);
        const text = JSON.stringify([...response.headers, response.body]).replaceAll(askedOfExports, '');
        // the id that was asked for is no secret
        const found = traces.filter(
          (each) => text.includes(each) && !(each === '"theirs"' && path.includes('{visitorId}')),
        );
        expect([method, query, found]).toEqual([method, query, []]);
        const asked = path.endsWith('/stats') ? `${range}&by=country` : '';
        if (method === 'GET' && 'get' in operations && query === asked) {
          expect(response.status).toBe(/\{(erasureId|webhookId)\}/.test(path) ? 404 : 200);
          const ours = JSON.stringify((await theirs.get<object>(`${pathOf(path, unknown)}?${query}`)).body);
          expect(traces.some((trace) => ours.includes(trace))).toBe(true);
        }
      }
    }
  });

  it('a cursor is of use only to whom it was given, for the list that it was given for', async () => {
    const [ofRecords, ofAll] = cursors;
    for (const [client, domainId, status] of [
      [theirs, theirDomain, 200],
      [stack.client, stack.domainId, 400],
    ] as const) {
      expect((await client.records(domainId, `cursor=${ofRecords}`)).status).toBe(status);
      expect((await client.orgStats(`cursor=${ofAll}`)).status).toBe(status);
      expectBlame(await client.records(domainId, `cursor=${ofAll}`), '/cursor');
      expectBlame(await client.orgStats(`cursor=${ofRecords}`), '/cursor');
    }
    expectBlame(await theirs.records(at(others.domainIds, 1), `cursor=${ofRecords}`), '/cursor');
  });

  it('nothing is counted', async () => {
    const { client, domainId } = stack;
    expect((await client.stats(domainId, range)).body.total).toBe(0);
    expect((await client.records(domainId)).body).toMatchObject({ total: 0, totalPages: 0, records: [] });
    expect((await client.orgStats()).body).toMatchObject({ total: 0, recordsTotal: 0, records: [] });
    expect((await client.organization()).body).toMatchObject({ usage: { used: 0 }, domains: [{ domainId }] });
  });
});

describe('an access token', () => {
  const operations = paths.flatMap(([path, byMethod]) =>
    Object.entries(byMethod as Record<string, { security?: object[] }>)
      .filter(([, { security }]) => JSON.stringify(security ?? []).includes('accessToken'))
      .map(([method]) => ({ path, method: method.toUpperCase() })),
  );
  const isOfAnyScope = (path: string) => path === '/v1/organization' || path.startsWith('/v1/people/me');
  const neededBy = (method: string, path: string): string => {
    if (isOfAnyScope(path)) return allScopes;
    if (/\/visitors|\/erasures|\/acts\/lookup/.test(path)) return 'privacy';
    if (path.endsWith('/acts')) return 'manage privacy';
    if (/\/imports?$/.test(path)) return 'import';
    if (path.includes('/current')) return 'current';
    if (path.endsWith('/replay')) return 'manage read';
    if (/\/(banner|check-ticket|checks)/.test(path)) return method === 'GET' ? 'read publish manage' : 'publish manage';
    const isPut = path.includes('/notices/') && method === 'PUT';
    return isPut || /\/(webhooks|organization\/domains|organization\/people|tokens|acts)/.test(path)
      ? 'manage'
      : 'read';
  };
  const send = (method: string, path: string, claims?: object) =>
    request<ProblemAnswer>(stack.api.baseUrl, `${path.replace('{domainId}', stack.domainId)}?unknown=x`, {
      method,
      headers: {
        ...(claims && { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, claims)}` }),
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      body: method === 'POST' ? '{}' : null,
    });

  it.each(operations)(
    'is wanted by $method $path, with its own scope, before it looks at parameters',
    async ({ method, path: template }) => {
      const path = template
        .replace('{recordId}', makeIdAt(0))
        .replace('{webhookId}', 'wh_x')
        .replace('{personId}', 'per_x')
        .replace('{checkId}', 'chk_x')
        .replaceAll(/\{(?!domainId)\w+\}/g, 'x');
      const none = await send(method, path);
      // a notice is put with an API key, too
      const isKeyed = method === 'PUT' && path.includes('/notices/');
      expectProblem(none, 401, isKeyed ? 'invalid_api_key' : 'missing_token');
      if (!isKeyed) expect(none.headers.get('www-authenticate')).toBe('Bearer realm="assent"');
      const needed = neededBy(method, path);
      const rest = scopes.filter((scope) => !needed.split(' ').includes(scope)).join(' ');
      const refused = await send(method, path, { scope: rest });
      expectProblem(refused, 403, 'insufficient_scope');
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", scope="${path.endsWith('/replay') ? 'manage' : needed}"`,
      );
      for (const enough of isOfAnyScope(path) ? scopes : [needed])
        expect((await send(method, path, { scope: enough })).status).toBe(400);
    },
  );
});
