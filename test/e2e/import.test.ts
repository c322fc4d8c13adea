/** POST /v1/consent/:domainId/import against real processes. */
import { type ClientRequest, request as httpRequest } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, addMonths, dayOf, monthOf } from '#libs/contract/calendar';
import { importLimits } from '#libs/contract/import';
import type { FullRecord, Imported } from '#libs/contract/responses';
import { makeIdAt, timeOf } from '#libs/contract/uuid';
import { parseEntry } from '#libs/merkle/parse-entry';
import { listDroppedMonths } from '#libs/store/records/months';
import { listActs } from '#libs/store/tenants/acts';
import { createCli } from '../support/cli.ts';
import { type Answer, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { at, type OwnStack, startStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const now = Date.now();
const types = { ndjson: 'application/x-ndjson', csv: 'text/csv' };
/** Of a problem the rest is there instead. */
type Body = Imported;

const lines = (rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const rowAt = (time: string, fields: object = {}) => ({ decision: 'accept_all', decidedAt: time, ...fields });

describe('an import', () => {
  let stack: OwnStack;

  beforeAll(async () => {
    stack = await startStack({ sealed: true, tenant: { domains: 80 } });
  });

  /** One that no other test uses. */
  let used = 0;
  const withOwnDomain = async (of: OwnStack): Promise<OwnStack> => {
    used += 1;
    return { ...of, domainId: at(of.tenant.domainIds, used) };
  };

  const post = <Answered>(
    { api, tenant, domainId }: OwnStack,
    body: string | Buffer,
    {
      format = 'ndjson',
      query = '',
      scope = 'import',
      type,
    }: { format?: 'ndjson' | 'csv'; query?: string; scope?: string; type?: string } = {},
  ): Promise<Answer<Answered>> =>
    request<Answered>(api.baseUrl, `/v1/consent/${domainId}/import?format=${format}${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor(tenant.organizationId, { scope })}`,
        'content-type': type ?? types[format],
      },
      body,
      duplex: 'half',
    });

  const send = (...args: Parameters<typeof post>) => post<Body>(...args);
  const refused = (...args: Parameters<typeof post>) => post<ProblemAnswer>(...args);

  /** One whose body is written bit by bit. */
  const open = ({ api, tenant, domainId }: OwnStack) => {
    const { hostname, port } = new URL(api.baseUrl);
    return httpRequest({
      hostname,
      port,
      method: 'POST',
      path: `/v1/consent/${domainId}/import?format=ndjson`,
      headers: {
        authorization: `Bearer ${tokenFor(tenant.organizationId, { scope: 'import' })}`,
        'content-type': types.ndjson,
      },
    });
  };

  const counted = ({ status, body: { read, queued, known, rejected, errors, ...rest } }: Answer<Body>) => ({
    ...(status !== 200 && rest),
    read,
    queued,
    known,
    rejected,
    codes: errors?.map(({ row, code }) => `${row} ${code}`),
  });

  const reader = (of: OwnStack) => createClient(of.api.baseUrl, { ...of.tenant, scope: 'read' });
  const stored = async (of: OwnStack, count: number): Promise<FullRecord[]> => {
    const { body } = await reader(of).records(of.domainId, 'limit=200');
    expect(body.total).toBe(count);
    return body.records;
  };

  it('stores rows of any month since 2018 once, with all their fields and the source import', async () => {
    const own = await withOwnDomain(stack);
    const full = {
      id: makeIdAt(Date.parse('2019-02-28T23:59:59.999Z')),
      decision: 'custom',
      decidedAt: '2019-02-28T23:59:59.999Z',
      receivedAt: '2019-03-01T00:00:00.250Z',
      visitorId: 'v-1',
      preferences: { analytics: true, '9': false },
      source: 'banner',
      bannerVersion: '1',
      policyVersion: '2',
      language: 'de',
      pageUrl: 'https://shop.example/p?secret=1',
      country: 'de',
      ip: '203.0.113.77',
      userAgent: 'Example/1.0',
      tcString: 'CP',
      gppString: 'DB',
      gpc: true,
      metadata: { plan: 'x' },
      notice: 'ab'.repeat(32),
      variant: 'B',
      bot: true,
    };
    const rows = [full, rowAt('2018-05-25T00:00:00.000Z', { externalId: 'a' }), rowAt('2024-01-31T12:00:00+01:00')];
    const answer = await send(own, lines(rows));
    expect(answer.status).toBe(200);
    expect(counted(answer)).toEqual({ read: 3, queued: 3, known: 0, rejected: 0, codes: [] });
    expect(answer.body.importId).toMatch(/^imp_/);
    const records = await stored(own, 3);
    expect(at(records, 1)).toMatchObject({
      ...full,
      source: 'import',
      domainId: own.domainId,
      country: 'DE',
      ip: '203.0.113.0',
      pageUrl: 'https://shop.example/p',
    });
    expect(records.map(({ decidedAt }) => decidedAt)).toEqual([
      '2024-01-31T11:00:00.000Z',
      '2019-02-28T23:59:59.999Z',
      '2018-05-25T00:00:00.000Z',
    ]);
    expect(at(records, 0)).toMatchObject({ bot: false, source: 'import', ip: null, userAgent: null });
    expect(Math.abs(Date.parse(at(records, 0).receivedAt) - now)).toBeLessThan(600_000);
    expect(counted(await send(own, lines(rows)))).toEqual({ read: 3, queued: 0, known: 3, rejected: 0, codes: [] });
    await stored(own, 3);
  });

  it('counts by the day that was decided, in Redis and in Postgres, also years ago', async () => {
    const own = await withOwnDomain(stack);
    const times = ['2018-12-31T23:59:59.999Z', '2019-01-01T00:00:00.000Z', new Date(now - 1000).toISOString()];
    const { body: before } = await reader(own).organization();
    const answer = await send(own, lines(times.map((time) => rowAt(time, { decision: 'withdraw' }))));
    expect(answer.body.queued).toBe(3);
    await eventually(async () => {
      for (const day of ['2018-12-31', '2019-01-01', dayOf(now - 1000)]) {
        const { body, headers } = await reader(own).stats(own.domainId, `from=${day}&to=${day}`);
        expect([day, body.total, body.breakdown.withdraw]).toEqual([day, 1, 1]);
        expect(headers.get('x-stats-source')).toBe('redis');
      }
      // only the one of this month counts towards its limit
      expect((await reader(own).organization()).body.usage.used - before.usage.used).toBe(
        monthOf(now - 1000) === monthOf(now) ? 1 : 0,
      );
    });
    expect(await createCli(own.env).json('counters', 'check')).toMatchObject({ differences: [] });
  });

  it('makes an id of the time and of externalId, or else of the row, for each domain its own', async () => {
    const own = await withOwnDomain(stack);
    const time = '2023-07-01T10:00:00.000Z';
    const rows = [
      rowAt(time, { externalId: 'a' }),
      rowAt(time, { externalId: 'a', decision: 'reject_all' }),
      rowAt(time, { externalId: 7 }),
      rowAt(time, { externalId: '7' }),
      rowAt(time, { visitorId: 'x' }),
      rowAt(time, { visitorId: 'x' }),
      rowAt(time, { visitorId: 'y' }),
    ];
    expect(counted(await send(own, lines(rows)))).toEqual({ read: 7, queued: 4, known: 3, rejected: 0, codes: [] });
    const ids = (await stored(own, 4)).map(({ id }) => id);
    expect(new Set(ids.map(timeOf))).toEqual(new Set([Date.parse(time)]));
    // of two with one identity the first
    expect((await stored(own, 4)).filter(({ decision }) => decision === 'reject_all')).toEqual([]);
    const other = await withOwnDomain(stack);
    await send(other, lines(rows));
    const others = (await stored(other, 4)).map(({ id }) => id);
    expect(others.filter((id) => ids.includes(id))).toEqual([]);
  });

  it('takes the NDJSON and the CSV of an export', async () => {
    const [first, second] = [makeIdAt(now - 5_000), makeIdAt(now - 4_000)];
    const record = {
      id: first,
      domainId: 'dom_elsewhere',
      decision: 'custom',
      decidedAt: new Date(timeOf(first)).toISOString(),
      receivedAt: new Date(timeOf(first) + 12).toISOString(),
      visitorId: '=1+1',
      preferences: { marketing: false, statistics: true },
      source: 'gpc',
      bannerVersion: null,
      policyVersion: "'quoted",
      language: 'fr',
      pageUrl: 'https://shop.example/',
      country: 'FR',
      ip: '203.0.113.0',
      userAgent: 'Example "1", of ü',
      tcString: null,
      gppString: null,
      gpc: false,
      metadata: { text: 'a,"b"\nc' },
      notice: null,
      variant: null,
      bot: false,
      erasedAt: null,
      log: 1,
      position: 17,
    };
    const another = { ...record, id: second, decidedAt: new Date(timeOf(second)).toISOString(), visitorId: null };
    const cell = (value: unknown): string => {
      if (value === null) return '';
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      const safe = /^[=+\-@\t\r']/.test(text) ? `'${text}` : text;
      return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    const csv = `${Object.keys(record).join(',')}\r\n${[record, another].map((each) => `${Object.values(each).map(cell).join(',')}\r\n`).join('')}`;
    const ndjson = `${lines([record, another])}{"end":true,"count":2}\n`;
    const expected = [another, record].map(({ log: _, position: __, domainId: ___, ...rest }) => ({
      ...rest,
      source: 'import',
    }));
    for (const [format, text] of [
      ['ndjson', ndjson],
      ['csv', csv],
      ['csv', `\ufeff${csv}`],
    ] as const) {
      const own = await withOwnDomain(stack);
      expect(counted(await send(own, text, { format }))).toEqual({
        read: 2,
        queued: 2,
        known: 0,
        rejected: 0,
        codes: [],
      });
      const records = await stored(own, 2);
      expect(records.map(({ log: _, position: __, domainId: ___, ...rest }) => rest)).toEqual(expected);
    }
  });

  it('only counts in a dry run', async () => {
    const own = await withOwnDomain(stack);
    const row = rowAt('2022-01-01T00:00:00.000Z');
    const answer = await send(own, lines([row, row, { decision: 'x' }]), { query: '&dryRun=true' });
    expect(counted(answer)).toEqual({ read: 3, queued: 1, known: 1, rejected: 1, codes: ['3 invalid_request'] });
    expect(counted(await send(own, lines([row])))).toMatchObject({ queued: 1, known: 0 });
    await stored(own, 1);
  });

  it('is sealed with the time of the import, which the log alone says', async () => {
    const own = await withOwnDomain(stack);
    const before = Date.now();
    await send(own, lines([rowAt('2020-02-29T00:00:00.000Z', { visitorId: 'v' })]));
    const record = at(await stored(own, 1), 0);
    expect(record).not.toHaveProperty('importedAt');
    const proof = await eventually(
      async () => {
        const path = `/v1/consent/${own.domainId}/records/${record.id}/proof`;
        const answer = await request<{ entry: string }>(own.api.baseUrl, path, {
          headers: { authorization: `Bearer ${tokenFor(own.tenant.organizationId)}`, accept: 'application/json' },
        });
        expect(answer.status).toBe(200);
        return answer.body;
      },
      { within: 20_000 },
    );
    const entry = parseEntry(proof.entry);
    if (entry.type !== 'record') throw new Error('not a record');
    const importedAt = Date.parse(entry.importedAt ?? '');
    expect(importedAt).toBeGreaterThanOrEqual(before);
    expect(importedAt).toBeLessThan(Date.now());
    const { entries } = (await reader(own).get<{ entries: object[] }>(`/v1/consent/${own.domainId}/feed`)).body;
    expect(JSON.stringify(entries)).not.toContain('importedAt');
    const check = await createCli(own.env).json<{ checked: number; differences: [] }>(
      'log',
      'check',
      '--domain',
      own.domainId,
    );
    expect(check).toEqual({ checked: 1, comparedWithRedis: true, differences: [] });
    await own.db.run(
      (sql) => sql`update records set imported_at = imported_at + interval '1 second' where id = ${record.id}`,
    );
    const changed = await createCli(own.env).run('log', 'check', '--domain', own.domainId, '--json');
    expect([changed.code, JSON.parse(changed.stdout).differences.length]).toEqual([1, 1]);
    await own.db.run(
      (sql) => sql`update records set imported_at = imported_at - interval '1 second' where id = ${record.id}`,
    );
  });

  it('is an administrative act of the token, with its counts', async () => {
    const own = await withOwnDomain(stack);
    const { body } = await send(own, lines([rowAt('2021-01-01T00:00:00.000Z'), {}]));
    const { acts } = await own.db.run((sql) => listActs(sql, { limit: 50 }));
    const act = acts.find(({ act, subject }) => act === 'records.import' && subject === own.domainId);
    expect(act).toMatchObject({
      actor: 'tester',
      act: 'records.import',
      details: { importId: body.importId, read: 2, queued: 1, known: 0, rejected: 1, isComplete: true },
    });
  });

  const good = rowAt('2022-05-05T05:05:05.000Z');
  it.each<[string, string, string]>([
    ['no JSON', '{', 'invalid_json'],
    ['no object', '[1]', 'invalid_json'],
    ['null', 'null', 'invalid_json'],
    ['thousands of levels', '['.repeat(50_000), 'invalid_json'],
    ['half a character', '"\\ud800"', 'invalid_json'],
    ['an unknown decision', JSON.stringify({ ...good, decision: 'yes' }), 'invalid_request'],
    ['no decision', JSON.stringify({ decidedAt: good.decidedAt }), 'invalid_request'],
    ['no time', '{"decision":"custom"}', 'invalid_request'],
    ['a time without its zone', JSON.stringify({ ...good, decidedAt: '2022-05-05T05:05:05' }), 'invalid_request'],
    ['a day that does not exist', JSON.stringify({ ...good, decidedAt: '2022-02-30T05:05:05Z' }), 'invalid_request'],
    ['a number for a time', JSON.stringify({ ...good, decidedAt: 1_600_000_000_000 }), 'invalid_request'],
    ['an id that is none', JSON.stringify({ ...good, id: 'x' }), 'invalid_request'],
    ['an id of another time', JSON.stringify({ ...good, id: makeIdAt(now) }), 'invalid_request'],
    ['wrong types', JSON.stringify({ ...good, visitorId: 7, preferences: 'all' }), 'invalid_request'],
    [
      'a name of the prototype',
      '{"decision":"custom","decidedAt":"2022-05-05T05:05:05Z","preferences":{"__proto__":true}}',
      'invalid_request',
    ],
    ['NUL', JSON.stringify({ ...good, visitorId: 'a\0b' }), 'invalid_request'],
    ['half a surrogate pair', JSON.stringify({ ...good, userAgent: 'a\ud800b' }), 'invalid_request'],
    ['an address that is none', JSON.stringify({ ...good, ip: '1.2.3' }), 'invalid_request'],
    ['a country that is none', JSON.stringify({ ...good, country: 'Germany' }), 'invalid_request'],
    ['bot as text', JSON.stringify({ ...good, bot: 'true' }), 'invalid_request'],
    ['before the GDPR', JSON.stringify(rowAt('2018-05-24T23:59:59.999Z')), 'time_out_of_range'],
    ['tomorrow', JSON.stringify(rowAt(new Date(now + 86_400_000).toISOString())), 'time_out_of_range'],
    ['an id of 1970', JSON.stringify({ decision: 'custom', id: makeIdAt(0) }), 'time_out_of_range'],
    ['1 MB', JSON.stringify({ ...good, visitorId: 'x'.repeat(1_000_000) }), 'invalid_request'],
  ])('refuses a row and goes on: %s', async (_, row, code) => {
    const own = await withOwnDomain(stack);
    const answer = await send(own, `${row}\n\n${JSON.stringify(good)}`);
    expect(counted(answer)).toEqual({ read: 2, queued: 1, known: 0, rejected: 1, codes: [`1 ${code}`] });
    expect(at(answer.body.errors, 0).detail.length).toBeLessThan(600);
  });

  it.each<[string, string, Partial<ReturnType<typeof counted>>]>([
    ['a quote that nothing closes', `"${good.decidedAt}",accept_all`, { read: 2, queued: 1, codes: [] }],
    ['an open quote', `"${good.decidedAt},accept_all`, { read: 2, queued: 1, codes: ['1 invalid_request'] }],
    ['text after a quote', `"${good.decidedAt}"x,accept_all`, { read: 2, queued: 1, codes: ['1 invalid_request'] }],
    ['a quote in a cell', `${good.decidedAt},accept"all"`, { read: 2, queued: 1, codes: ['1 invalid_request'] }],
    ['a cell too many', `${good.decidedAt},accept_all,`, { read: 2, queued: 1, codes: ['1 invalid_request'] }],
    [
      '1 MB in a cell',
      `${good.decidedAt},${'x'.repeat(1_000_000)}`,
      { read: 2, queued: 1, codes: ['1 invalid_request'] },
    ],
    ['1 MB in quotes', `${good.decidedAt},"${'x\n'.repeat(5)}${'x'.repeat(1_000_000)}`, { queued: 1 }],
  ])('a row of CSV costs no other row: %s', async (_, row, expected) => {
    const own = await withOwnDomain(stack);
    const other = '2022-05-06T05:05:05.000Z';
    const answer = await send(own, `decidedAt,decision\n${row}\n\r\n${other},accept_all`, { format: 'csv' });
    const all = counted(answer);
    expect(all).toMatchObject({ ...expected, queued: expected.codes?.length === 0 ? 2 : 1 });
  });

  it('tells the first 1,000 of 250,000 bad rows, and refuses one row more', async () => {
    const own = await withOwnDomain(stack);
    const bad = Buffer.from('x\n'.repeat(importLimits.rows));
    const answer = await send(own, bad);
    expect([answer.body.read, answer.body.rejected, answer.body.errors.length]).toEqual([250_000, 250_000, 1_000]);
    const more = await refused(own, Buffer.concat([bad, Buffer.from('x\n')]));
    expectProblem(more, 413, 'payload_too_large');
  });

  it('refuses a whole file that it cannot read', async () => {
    const own = await withOwnDomain(stack);
    for (const text of ['\ufeffdecision,decidedAt\n', 'decision,decidedAt\n']) {
      const utf16 = await refused(own, Buffer.from(text, 'utf16le'), { format: 'csv' });
      expectProblem(utf16, 400, 'invalid_request');
      expect(utf16.body.detail).toContain('UTF-16');
    }
    expectProblem(await refused(own, Buffer.from('\ufeff{}', 'utf16le')), 400, 'invalid_request');
    expectProblem(await refused(own, 'decision,decision\n', { format: 'csv' }), 400, 'invalid_request');
    expectProblem(await refused(own, '{}', { type: 'application/json' }), 415, 'unsupported_media_type');
    expectProblem(await refused(own, '{}', { type: 'text/csv' }), 415, 'unsupported_media_type');
    expectProblem(
      await refused(own, '{}', { type: 'application/x-ndjson; charset=utf-16' }),
      415,
      'unsupported_media_type',
    );
    expectProblem(await refused(own, '{}', { scope: 'read manage privacy' }), 403, 'insufficient_scope');
    expectProblem(await refused(own, '{}', { query: '&dryRun=1' }), 400, 'invalid_request');
    expectProblem(await refused({ ...own, domainId: 'dom_unknown' }, '{}'), 404, 'domain_not_found');
    expect(counted(await send(own, '', { format: 'csv' }))).toEqual({
      read: 0,
      queued: 0,
      known: 0,
      rejected: 0,
      codes: [],
    });
  });

  it('a refused client can read why, however much it still sends', async () => {
    const own = await withOwnDomain(stack);
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    for (let each = 0; each < 2; each += 1) {
      expectProblem(await refused(own, body, { type: 'application/json' }), 415, 'unsupported_media_type');
      expectProblem(await refused(own, body, { scope: 'read' }), 403, 'insufficient_scope');
      expectProblem(await refused(own, body, { query: '&x=1' }), 400, 'invalid_request');
    }
  });

  it('refuses what retention has dropped', async () => {
    const own = await withOwnDomain(stack);
    // no other test uses it or the months beside it
    const month = '2018-08';
    await own.db.run((sql) => sql`insert into record_months (month, dropped_at) values (${month}, now())`);
    try {
      const rows = [`${month}-15`, `${addMonths(month, -1)}-15`, `${addMonths(month, 1)}-15`].map((day) =>
        rowAt(`${day}T00:00:00Z`),
      );
      expect(counted(await send(own, lines(rows)))).toEqual({
        read: 3,
        queued: 1,
        known: 0,
        rejected: 2,
        codes: ['1 past_retention', '2 past_retention'],
      });
      expect(await own.db.run(listDroppedMonths)).toEqual([month]);
    } finally {
      await own.db.run((sql) => sql`delete from record_months where month = ${month}`);
    }
  });

  it('leaves others their places: an organization has four at once, of eight in a process', async () => {
    const organizations = await Promise.all(Array.from({ length: 3 }, () => makeTenant(stack.db, { domains: 4 })));
    const of = (organization: number, domain = 0): OwnStack => {
      const tenant = at(organizations, organization);
      return { ...stack, tenant, domainId: at(tenant.domainIds, domain) };
    };
    const running: ClientRequest[] = [];
    // more than are stored together, so that the first are while it goes on
    const rows = Array.from({ length: 1_000 }, (_, externalId) => rowAt('2021-05-01T00:00:00.000Z', { externalId }));
    const begin = async (own: OwnStack) => {
      const upload = open(own);
      running.push(upload);
      upload.on('error', () => {});
      upload.write(lines(rows));
      await eventually(async () => expect((await reader(own).records(own.domainId)).body.total).toBeGreaterThan(0));
    };
    const isRefused = async (own: OwnStack, why: string) => {
      const answer = await refused(own, '');
      expectProblem(answer, 429, 'rate_limited');
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.body.detail).toContain(why);
    };
    try {
      for (const domain of [0, 1, 2, 3]) await begin(of(0, domain));
      await isRefused(of(0), 'your organization');
      for (const domain of [0, 1, 2, 3]) await begin(of(1, domain));
      await isRefused(of(2), 'too many imports');
    } finally {
      for (const upload of running) upload.destroy();
    }
    for (const organization of [0, 2]) {
      await eventually(async () => expect((await send(of(organization), '')).status).toBe(200));
    }
  });

  it('takes longer than other requests may, and keeps what came before the connection was cut', async () => {
    const own = await withOwnDomain(stack);
    const rows = Array.from({ length: 1_000 }, (_, index) =>
      rowAt(`${addDays('2021-03-01', index % 90)}T00:00:00.000Z`, { externalId: `${index}`, variant: 'x'.repeat(60) }),
    );
    const text = lines(rows);
    const cut = open(own);
    cut.on('error', () => {});
    cut.write(text.slice(0, -1_000));
    const total = async () => (await reader(own).records(own.domainId)).body.total;
    await eventually(async () => expect(await total()).toBeGreaterThanOrEqual(500));
    // past the 4.5 s in which a request has to be complete
    const since = Date.now();
    await eventually(() => expect(Date.now() - since).toBeGreaterThan(6_000), { within: 10_000 });
    expect(cut.destroyed).toBe(false);
    cut.destroy();
    const again = await send(own, text);
    expect(again.body.read).toBe(1_000);
    expect(again.body.known).toBeGreaterThanOrEqual(500);
    expect(again.body.known + again.body.queued).toBe(1_000);
    await eventually(async () => expect(await total()).toBe(1_000));
    expect(counted(await send(own, text))).toEqual({ read: 1_000, queued: 0, known: 1_000, rejected: 0, codes: [] });
  });
});
