/** Exports: every record that matches, once, as the log's page has it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { dayOf } from '#libs/base/terms/calendar';
import { withoutMark } from '#libs/base/terms/csv';
import { Assent } from '#libs/client/assent';
import { readExport } from '#libs/log/exported-lines';
import { type FullRecord, fullRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { listActs } from '#libs/tenants/acts';
import { type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { readCsv } from '../support/csv.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, type Sealer } from '../support/sealing.ts';
import { at, type OwnStack, startStack } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const exported = fullRecord.strict();
const day = 86_400_000;
const now = Date.now();
const formulas = ['=1+1', '+1', '-1', '@a', '\tx', '\rx', '\nx', '＝1', '＋1', '－1', '＠a'];
const dangerous = [
  ...formulas,
  "'x",
  'a"b,c\r\nd',
  '😀 "',
  'plain',
  ' =1',
  'x;=1',
  `a;\t'@b`,
  'x| "=1',
  'x;y',
  'a\n=1;b',
  '"\r\n=1',
  '\t\t=1',
];

describe('an export', () => {
  let stack: OwnStack;
  let sealer: Sealer;

  beforeAll(async () => {
    stack = await startStack({ worker: false, tenant: { domains: 8 } });
    sealer = createSealer(stack.db, await openRedis(stack.redis.url));
  });

  const domain = (index: number) => at(stack.tenant.domainIds, index);
  const headers = (organizationId = stack.tenant.organizationId) => ({
    authorization: `Bearer ${tokenFor(organizationId, { sub: 'exporter' })}`,
    'accept-encoding': 'identity',
  });
  const ask = <Body = ProblemAnswer>(path: string, organizationId?: string) =>
    request<Body>(stack.api.baseUrl, path, { headers: headers(organizationId) });
  const ofDomain = (domainId: string, query = '') => `/v1/consent/${domainId}/export${query}`;
  const lines = async (path: string): Promise<FullRecord[]> => {
    const { status, body } = await ask<string>(path);
    expect([path, status, body.at(-1)]).toEqual([path, 200, '\n']);
    const all: unknown[] = body
      .slice(0, -1)
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(all.pop()).toEqual({ end: true, count: all.length });
    return all.map((each) => exported.parse(each));
  };
  const store = async (domainId: string, count: number, fields: object = {}, every = 7) => {
    const records = Array.from({ length: count }, (_, each) =>
      recordAt(now - (count - each) * every, { domainId, visitorId: `visitor ${each % 10}`, ...fields }),
    );
    for (let from = 0; from < count; from += 1_000)
      await persist(stack.db, records.slice(from, from + 1_000), { owe: true });
    return records.map(({ id }) => id).toSorted();
  };
  const logged = async (domainId: string): Promise<FullRecord[]> => {
    const records: FullRecord[] = [];
    const assent = new Assent({ url: stack.api.baseUrl, token: tokenFor(stack.tenant.organizationId) });
    for await (const record of assent.records({}, { domainId })) records.push(record);
    return records.reverse();
  };
  /** Of the same fields, in the same order, with the same values. */
  const textOf = (records: FullRecord[]) => records.map((record) => JSON.stringify(Object.entries(record)));

  it('has every record as the log has it, field by field, oldest first, sealed or not, erased or not', async () => {
    const notice = 'ab'.repeat(32);
    const full = {
      domainId: domain(0),
      decision: 'custom',
      visitorId: '=visitor "1", of\r\ntwo',
      preferences: { analytics: true, '10': false, '9': true },
      source: 'preferences',
      bannerVersion: '2.4.1',
      policyVersion: '2026-09',
      language: 'de-AT',
      pageUrl: 'https://shop.example/ä?',
      country: 'AT',
      ip: '2001:db8::',
      userAgent: 'Example/1.0 (a, "b")',
      tcString: '-CP',
      gppString: "'DBA",
      gpc: false,
      metadata: { text: 'a\u0001"\\😀\u2028', number: -1.5e-7, large: 9_007_199_254_740_991, yes: true },
      notice,
      variant: '@b',
      region: 'AT-9',
      model: 'opt_in',
      bot: true,
    } as const;
    await persist(
      stack.db,
      [
        recordAt(now - 40 * day, { domainId: domain(0) }),
        recordAt(now - 9 * day, full),
        ...dangerous.map((visitorId, each) =>
          recordAt(now - 8 * day + each, { domainId: domain(0), visitorId, bannerVersion: '', variant: visitorId }),
        ),
      ],
      { owe: true },
    );
    await sealer.closeAndSeal();
    const erased = await request(stack.api.baseUrl, `/v1/consent/${domain(0)}/visitors/plain`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'privacy' })}` },
    });
    expect(erased.status).toBe(200);
    await store(domain(0), 30);
    const log = await logged(domain(0));
    expect(log.length).toBe(dangerous.length + 32);
    expect(log.filter(({ position }) => position !== null).length).toBe(dangerous.length + 2);
    expect(log.filter(({ erasedAt }) => erasedAt !== null).length).toBe(1);
    expect(textOf(await lines(ofDomain(domain(0))))).toEqual(textOf(log));

    const { body, headers: answered } = await ask<string>(ofDomain(domain(0), '?format=csv'));
    expect(answered.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const [names, ...rows] = readCsv(body);
    expect(names?.cells).toEqual(Object.keys(at(log, 0)));
    const read = rows.map(({ cells, quoted }) =>
      Object.fromEntries(
        cells.map((cell, index) => [
          at(names?.cells ?? [], index),
          cell === '' && !quoted[index] ? null : parsed(at(names?.cells ?? [], index), cell),
        ]),
      ),
    );
    expect(read).toEqual(log);
    // a spreadsheet takes none of them for a formula
    expect(rows.flatMap(({ cells }) => cells).filter((cell) => /^[=+\-@\t\r\n＝＋－＠]/.test(cell))).toEqual([]);
    expect(rows.flatMap(({ cells }) => cells)).toEqual(expect.arrayContaining(["'=1+1", "''x", "'\rx"]));
  });

  const json = new Set(['preferences', 'metadata', 'gpc', 'bot', 'log', 'position']);
  const parsed = (name: string, cell: string): unknown => {
    const text = withoutMark(cell);
    return json.has(name) ? JSON.parse(text) : text;
  };

  it('has a name, and is compressed on request', async () => {
    await store(domain(1), 300);
    const plain = await ask<string>(ofDomain(domain(1)));
    expect(plain.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="${domain(1)}-\\d{8}T\\d{6}Z.ndjson"$`),
    );
    expect(plain.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(plain.headers.get('vary')).toMatch(/accept-encoding/i);
    expect(plain.headers.get('content-encoding')).toBeNull();
    const url = stack.api.baseUrl + ofDomain(domain(1));
    const gzipped = await fetch(url, { headers: { ...headers(), 'accept-encoding': 'gzip' } });
    expect(gzipped.headers.get('content-encoding')).toBe('gzip');
    expect(await gzipped.text()).toBe(plain.body);
    const head = await request(stack.api.baseUrl, ofDomain(domain(1)), { method: 'HEAD', headers: headers() });
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it('filters as the log does, and goes on after a record', async () => {
    const ids = await store(domain(2), 600, {}, 220_000);
    const withdrawn = await store(domain(2), 5, { decision: 'withdraw', bot: true }, 60_000);
    const all = await lines(ofDomain(domain(2)));
    expect(all.map(({ id }) => id)).toEqual([...ids, ...withdrawn].toSorted());
    const filters: [string, (record: FullRecord) => boolean][] = [
      ['visitorId=visitor%203', ({ visitorId }) => visitorId === 'visitor 3'],
      ['visitorId=nobody', () => false],
      [
        'decision=withdraw&visitorId=visitor%203',
        ({ decision, visitorId }) => decision === 'withdraw' && visitorId === 'visitor 3',
      ],
      [
        `from=${dayOf(now - day)}&to=${dayOf(now - day)}`,
        ({ decidedAt }) => dayOf(Date.parse(decidedAt)) === dayOf(now - day),
      ],
      [`after=${at(ids, 300).toUpperCase()}&bot=false`, ({ id, bot }) => id > at(ids, 300) && !bot],
      [`after=${at(all, -1).id}`, () => false],
    ];
    for (const [query, matches] of filters) {
      const found = await lines(ofDomain(domain(2), `?${query}`));
      expect([query, found]).toEqual([query, all.filter(matches)]);
    }
  });

  it('of an organization has its domains in the order of their ids, and goes on within one', async () => {
    const other = await makeTenant(stack.db, { domains: 3 });
    const [first = '', second = '', third = ''] = other.domainIds.toSorted();
    const stored = [await store(third, 4), await store(first, 1_100), await store(second, 3)];
    const get = async (query = '') => {
      const { body } = await ask<string>(`/v1/organization/export${query}`, other.organizationId);
      return body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const [ofThird = [], ofFirst = [], ofSecond = []] = stored;
    const all = await get();
    expect(all.map(({ id }) => id)).toEqual([...ofFirst, ...ofSecond, ...ofThird, undefined]);
    expect(all.at(-1)).toEqual({ end: true, count: 1_107 });
    expect(all.filter(({ domainId }) => domainId === second).length).toBe(3);
    const rest = await get(`?after=${second}/${at(ofSecond, 1)}`);
    expect(rest.map(({ id }) => id)).toEqual([at(ofSecond, 2), ...ofThird, undefined]);
    expect((await get(`?after=${third}/${at(ofThird, -1)}`)).length).toBe(1);
  });

  it('records of later epochs are left out', async () => {
    const before = await store(domain(4), 10);
    const [row] = await stack.db.run((sql) => sql<{ open: number }[]>`select open from epochs`);
    await sealer.close();
    await store(domain(4), 5);
    const wanted = { organizationId: stack.tenant.organizationId, domainIds: [domain(4)], format: 'csv' as const };
    let text = '';
    for await (const part of readExport(stack.db, wanted, row?.open ?? 0)) text += part.text;
    const [, ...rows] = readCsv(text);
    expect(rows.map(({ cells }) => cells[0])).toEqual(before);
  });

  it('one at a time an organization; the next begins when its client is gone, and what others hold open is no hindrance', async () => {
    const leaving = new AbortController();
    // one more than pages that are read at once
    const tenants = await Promise.all(Array.from({ length: 5 }, () => makeTenant(stack.db)));
    // 15 MB, more than the sockets between may hold, in pages that Postgres reads in time
    const first = tenants.map(({ domainIds }) => recordAt(now - day, { domainId: at(domainIds, 0) }));
    await persist(stack.db, first, { owe: true });
    await stack.sql`
      insert into records (received_at, id, domain_number, epoch, decision, source, bot, tc_string)
      select received_at, overlay(id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, domain_number, epoch,
        decision, source, bot, repeat('x', 7500)
      from records, generate_series(1, 2000) n where id::text = any(${first.map(({ id }) => id)})`;
    const running = [];
    for (const each of tenants) {
      const init = { headers: headers(each.organizationId), signal: leaving.signal };
      const { status, body } = await fetch(`${stack.api.baseUrl}/v1/organization/export`, init);
      const reader = body?.getReader() ?? expect.fail('no body');
      await reader.read();
      running.push({ status, reader });
    }
    expect((await ask<string>('/v1/organization/export?to=2020-01-01')).status).toBe(200);
    // the last one: who reads nothing for half a minute is disconnected
    const { domainIds, organizationId } = at(tenants, -1);
    const refused = await ask(ofDomain(at(domainIds, 0)), organizationId);
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    // a response that nobody holds is cancelled once it is collected
    expect(new Set(running.map(({ status }) => status))).toEqual(new Set([200]));
    leaving.abort();
    await eventually(async () =>
      expect((await ask<string>('/v1/organization/export?to=2020-01-01', organizationId)).status).toBe(200),
    );
  });

  it('what is asked for wrongly is refused, and so is a plan without the log', async () => {
    const blamed: [string, string][] = [
      ['?format=xml', '/format'],
      ['?from=2026-02-30', '/from'],
      ['?from=2026-02-02&to=2026-02-01', '/from'],
      ['?after=x', '/after'],
      ['?limit=1', '/limit'],
    ];
    for (const [query, path] of blamed) {
      expectBlame(await ask(ofDomain(domain(6), query)), path);
      expectBlame(await ask(`/v1/organization/export${query}`), path);
    }
    expectBlame(await ask(`/v1/organization/export?after=${crypto.randomUUID()}`), '/after');
    const other = await makeTenant(stack.db, { consentLog: false });
    expectProblem(await ask('/v1/organization/export', other.organizationId), 403, 'plan_feature_required');
  });

  it('is an administrative act, with who asked and the filters, the visitor as a hash', async () => {
    await store(domain(7), 3);
    await lines(ofDomain(domain(7), '?visitorId=visitor%201&bot=false'));
    const { acts } = await stack.db.run((sql) => listActs(sql, { act: 'records.export', limit: 1 }));
    expect(acts).toMatchObject([
      {
        actor: 'exporter',
        act: 'records.export',
        subject: expect.stringMatching(/^[0-9a-f]{64}$/),
        organizationId: stack.tenant.organizationId,
        details: { domainId: domain(7), format: 'ndjson', bot: false },
      },
    ]);
    expect(JSON.stringify(acts)).not.toContain('visitor 1');
    await ask(ofDomain(domain(7), '?format=csv'));
    const { acts: later } = await stack.db.run((sql) => listActs(sql, { act: 'records.export', limit: 1 }));
    expect(later).toMatchObject([{ act: 'records.export', subject: '', details: { format: 'csv' } }]);
  });
});
