import { beforeAll, describe, expect, it } from 'vitest';
import { dayOf } from '#libs/contract/calendar';
import { createOpenApi } from '#libs/contract/openapi';
import { persist } from '#libs/store/records/persist';
import { type Answer, type Client, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { indistinguishable } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, startStack } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const unknown = 'dom_00000000000000000000';
const today = dayOf(Date.now());
const range = `from=${today}&to=${today}`;

/** Every path of the service, as its own document lists them: what is added there is tried here. */
const paths = Object.entries(createOpenApi().paths ?? {});
const ofDomain = paths.filter(([path]) => path.includes('{domainId}'));
const ofOrganization = paths.filter(([path]) => !path.includes('{domainId}') && path.startsWith('/v1/'));
const parametersOf = (operations: object): string[] =>
  Object.values(operations as Record<string, { parameters?: { name: string; in: string }[] }>)
    .flatMap(({ parameters = [] }) => parameters)
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name);

describe('of another organization', () => {
  let stack: Stack;
  let others: Tenant;
  let theirs: Client;
  let theirDomain: string;
  let theirRecord: string;
  /** what must never be in an answer to us */
  let traces: string[];
  let cursors: string[];

  beforeAll(async () => {
    stack = await startStack({ sealed: true });
    others = await makeTenant(stack.db, { domains: 2 });
    theirs = createClient(stack.api.baseUrl, others);
    theirDomain = at(others.domainIds, 0);
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
    theirRecord = at(records, 0).id;
    const proof = `/v1/consent/${theirDomain}/records/${theirRecord}/proof`;
    await eventually(async () => expect((await theirs.get(proof)).status).toBe(200), { within: 20_000 });
    const { body: page } = await theirs.records(theirDomain, 'limit=1');
    const { body: all } = await theirs.orgStats('limit=1');
    cursors = [page.nextCursor ?? '', all.nextCursor ?? ''];
    expect(cursors.every((cursor) => cursor.length > 20)).toBe(true);
    traces = [
      others.organizationId,
      ...others.domainIds,
      ...records.map(({ id }) => id),
      '"theirs"',
      '"IS"',
      ...cursors,
    ];
  });

  /** Values that find something of theirs, for every parameter that a path may have. */
  const values = (): Record<string, string[]> => ({
    from: [today, '2026-02-30'],
    to: [today],
    interval: ['day', 'month', 'year'],
    page: ['1', '2', '0'],
    limit: ['1', '200', '201'],
    cursor: [...cursors, 'x'],
    decision: ['accept_all', 'withdraw', 'x'],
    visitorId: ['theirs', 'nobody'],
    bot: ['true', 'false', 'x'],
    log: ['1', '2', '0'],
    unknown: ['x'],
  });
  /** Of a domain, with something of theirs in place of every other parameter. */
  const pathOf = (template: string, domainId: string): string => {
    const given: Record<string, string> = { domainId, recordId: theirRecord, level: '0', tile: '000.p/3' };
    return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = given[name];
      if (value === undefined) throw new Error(`no value for the path parameter ${name}`);
      return value;
    });
  };
  const queries = (names: string[]): string[] => {
    const known = values();
    const singles = [...names, 'unknown'].flatMap((name) => {
      const given = known[name];
      if (!given) throw new Error(`no value for the parameter ${name}`);
      return given.map((value) => `${name}=${encodeURIComponent(value)}`);
    });
    const withRange = names.includes('interval') ? singles.map((single) => `${range}&${single}`) : [];
    return ['', range, ...singles, ...withRange, `${range}&visitorId=theirs&bot=true`];
  };

  const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, path, {
      method,
      headers: {
        authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}`,
        'x-request-id': 'same',
        'content-type': 'application/json',
        ...headers,
      },
      body: ['POST', 'PUT', 'PATCH'].includes(method) ? '{"decision":"custom"}' : null,
    });

  it('there are paths to try', () => {
    expect([ofDomain.length, ofOrganization.length]).toEqual([10, 2]);
  });

  it.each(ofDomain)(
    '%s answers for a domain as for one that does not exist, by every method',
    async (path, operations) => {
      for (const method of methods) {
        for (const query of queries(parametersOf(operations))) {
          const ask = (domainId: string) => send(method, `${pathOf(path, domainId)}?${query}`);
          const [foreign, none] = [await ask(theirDomain), await ask(unknown)];
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

  it.each(ofOrganization)('%s has nothing in it, by every method', async (path, operations) => {
    for (const method of methods) {
      for (const query of queries(parametersOf(operations))) {
        const answer = await send(method, `${path}?${query}`);
        const text = JSON.stringify([...answer.headers, answer.body]);
        for (const trace of traces) expect([method, query, text.includes(trace)]).toEqual([method, query, false]);
        if (method === 'GET' && query === '') {
          expect(answer.status).toBe(200);
          const ours = JSON.stringify((await theirs.get<object>(path)).body);
          expect(traces.some((trace) => ours.includes(trace))).toBe(true);
        }
      }
    }
  });

  it('a key opens no domain, and looks like a key that does not exist', async () => {
    const key = (domainId: string, apiKey: string) =>
      send('POST', `/v1/consent/${domainId}/record`, { 'x-api-key': apiKey });
    const answers = [
      await key(theirDomain, stack.apiKey),
      await key(stack.domainId, at(others.apiKeys, 0)),
      await key(unknown, stack.apiKey),
      await key(stack.domainId, `ak_${'x'.repeat(32)}`),
    ];
    expect(new Set(answers.map(indistinguishable)).size).toBe(1);
    expect(at(answers, 0).status).toBe(401);
  });

  it('a cursor with any character changed is no cursor', async () => {
    const [ofRecords = '', ofAll = ''] = cursors;
    const alter = (cursor: string, index: number) =>
      cursor.slice(0, index) + (cursor[index] === 'A' ? 'B' : 'A') + cursor.slice(index + 1);
    for (let index = 0; index < ofRecords.length; index += 1) {
      const { status } = await theirs.records(theirDomain, `cursor=${alter(ofRecords, index)}`);
      expect([index, status]).toEqual([index, 400]);
    }
    for (let index = 0; index < ofAll.length; index += 1) {
      const { status } = await theirs.orgStats(`cursor=${alter(ofAll, index)}`);
      expect([index, status]).toEqual([index, 400]);
    }
    expect((await theirs.records(theirDomain, `cursor=${ofRecords}`)).status).toBe(200);
  });
});
