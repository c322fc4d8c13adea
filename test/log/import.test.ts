/** POST /v1/consent/:domainId/import; which rows are refused, and why, is in test/log/import-rows.unit.test.ts. */
import { hash } from 'node:crypto';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSlots } from '#libs/base/slots';
import { addDays, addMonths, dayOf, idOfDigest, makeIdAt, monthOf, timeOf } from '#libs/base/terms/calendar';
import type { ImportsPage } from '#libs/log/contract';
import type { Imported } from '#libs/log/import/contract';
import { checkLogs } from '#libs/proof/check/check-domains';
import { parseEntry } from '#libs/proof/tree/parse-entry';
import type { FullRecord } from '#libs/record/contract';
import { listDroppedMonths } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { listActs } from '#libs/tenants/acts';
import { createSharedSlots } from '#libs/tenants/shared-slots';
import { createCli } from '../support/cli.ts';
import { type Answer, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { at, type OwnStack, startStack } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const now = Date.now();
const types = { ndjson: 'application/x-ndjson', csv: 'text/csv' };
const lines = (rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const rowAt = (time: string, fields: object = {}) => ({
  decision: 'accept_all',
  decidedAt: time,
  ...fields,
});

const text = lines(
  Array.from({ length: 1_000 }, (_, index) =>
    rowAt(`${addDays('2021-03-01', index % 90)}T00:00:00.000Z`, { externalId: index, variant: 'x'.repeat(60) }),
  ),
);

describe('an import', () => {
  let stack: OwnStack;

  /** Uploads of an organization of their own, which go on while the other tests run. */
  let long: { of(index: number): OwnStack; since: number; uploads: ClientRequest[]; answers: { early?: number }[] };

  beforeAll(async () => {
    stack = await startStack({ sealed: true, tenant: { domains: 17 } });
    const tenant = await makeTenant(stack.db, { domains: 4 });
    const of = (index: number): OwnStack => ({ ...stack, tenant, domainId: at(tenant.domainIds, index) });
    const since = Date.now();
    const uploads = [0, 1, 2, 3].map((index) => open(of(index)));
    long = { of, since, uploads, answers: uploads.map(answerTo) };
    // more than are stored together, so that the first are while it goes on
    for (const upload of uploads) upload.write(text.slice(0, -1_000));
  });

  /** A domain that no other test uses. */
  let used = 0;
  const ownDomain = (): OwnStack => {
    used += 1;
    return { ...stack, domainId: at(stack.tenant.domainIds, used) };
  };

  const path = (domainId: string, format: string, query = '') =>
    `/v1/consent/${domainId}/import?format=${format}${query}`;
  const bearer = ({ tenant }: OwnStack, scope: string) => `Bearer ${tokenFor(tenant.organizationId, { scope })}`;
  const post = <Answered = Imported & ProblemAnswer>(
    of: OwnStack,
    body: string | Buffer,
    {
      format = 'ndjson',
      query = '',
      scope = 'import',
      type,
    }: { format?: 'ndjson' | 'csv'; query?: string; scope?: string; type?: string } = {},
  ): Promise<Answer<Answered>> =>
    request<Answered>(of.api.baseUrl, path(of.domainId, format, query), {
      method: 'POST',
      headers: { authorization: bearer(of, scope), 'content-type': type ?? types[format] },
      body,
      duplex: 'half',
    });
  /** One whose body is written bit by bit. */
  const open = (of: OwnStack, query = '') => {
    const upload = httpRequest(of.api.baseUrl + path(of.domainId, 'ndjson', query), {
      method: 'POST',
      headers: { authorization: bearer(of, 'import'), 'content-type': types.ndjson },
    });
    return upload.on('error', () => {});
  };
  /** The status of an upload that is answered though its body is not complete. */
  const answerTo = (upload: ReturnType<typeof open>) => {
    const found: { early?: number } = {};
    upload.on('response', ({ statusCode = 0 }) => {
      found.early = statusCode;
    });
    return found;
  };
  const counted = ({ status, body: { read, queued, known, rejected, errors, ...rest } }: Answer<Imported>) => ({
    ...(status !== 200 && rest),
    read,
    queued,
    known,
    rejected,
    codes: errors?.map(({ row, code }) => `${row} ${code}`),
  });
  const none = { read: 0, queued: 0, known: 0, rejected: 0, codes: [] };
  const reader = (of: OwnStack) => createClient(of.api.baseUrl, { ...of.tenant, scope: 'read' });
  /** An import waits some seconds for the worker, and is answered then. */
  const stored = (of: OwnStack, count: number): Promise<FullRecord[]> =>
    eventually(async () => {
      const { body } = await reader(of).records(of.domainId, 'limit=200');
      expect(body.total).toBe(count);
      return body.records;
    });

  it('stores rows of any month since 2018 once, with all their fields and the source import', async () => {
    const own = ownDomain();
    // what a row may have beside what any record may
    const full = {
      id: makeIdAt(Date.parse('2019-02-28T23:59:59.999Z')),
      decision: 'custom',
      decidedAt: '2019-02-28T23:59:59.999Z',
      receivedAt: '2019-03-01T00:00:00.250Z',
      source: 'banner',
      pageUrl: 'https://shop.example/p?secret=1',
      country: 'de',
      ip: '203.0.113.77',
      userAgent: 'Example/1.0',
      notice: 'ab'.repeat(32),
      bot: true,
    };
    const crawler = { externalId: 'a', userAgent: 'Googlebot/2.1' };
    const rows = [full, rowAt('2018-05-25T00:00:00.000Z', crawler), rowAt('2024-01-31T12:00:00+01:00')];
    const answer = await post(own, lines(rows));
    expect(counted(answer)).toEqual({ ...none, read: 3, queued: 3 });
    expect(answer.body.importId).toMatch(/^imp_/);
    const [newest, second, oldest] = await stored(own, 3);
    const kept = { domainId: own.domainId, country: 'DE', ip: '203.0.113.0', pageUrl: 'https://shop.example/p' };
    expect(second).toMatchObject({ ...full, source: 'import', ...kept });
    expect(newest).toMatchObject({ decidedAt: '2024-01-31T11:00:00.000Z', bot: false, source: 'import', ip: null });
    expect(oldest).toMatchObject({ decidedAt: '2018-05-25T00:00:00.000Z', bot: true });
    const receivedAt = Date.parse(newest?.receivedAt ?? '');
    expect([receivedAt >= now, receivedAt <= Date.now()]).toEqual([true, true]);
    expect(counted(await post(own, lines(rows)))).toEqual({ ...none, read: 3, known: 3 });
    await stored(own, 3);
    // the same rows are other records on another domain
    const other = ownDomain();
    await post(other, lines(rows.slice(1)));
    const ids = (await stored(other, 2)).map(({ id }) => id);
    expect(ids).not.toContain(newest?.id);
    expect(ids.map(timeOf)).toEqual([newest, oldest].map((each) => timeOf(each?.id ?? '')));
  });

  it('is not pre-empted by a page, which cannot make the id of a row; a row from an earlier release stays known', async () => {
    const own = ownDomain();
    // of no month that another test counts
    const time = Date.parse('2022-06-15T12:00:00.000Z');
    const externalIds = ['a', 'b'];
    const rows = externalIds.map((externalId) => rowAt(new Date(time).toISOString(), { externalId }));
    // as ids were made before
    const formerIds = externalIds.map((externalId) =>
      idOfDigest(time, hash('sha256', JSON.stringify([own.domainId, 'externalId', externalId]))),
    );
    const records = formerIds.map((id) => recordAt(time, { id, domainId: own.domainId, decision: 'reject_all' }));
    await persist(own.db, [at(records, 0), { ...at(records, 1), source: 'import' }]);
    expect(counted(await post(own, lines(rows)))).toEqual({ ...none, read: 2, queued: 1, known: 1 });
    expect((await stored(own, 3)).map(({ source }) => source).sort()).toEqual(['banner', 'import', 'import']);
  });

  it('counts by the day that was decided, in Redis and in Postgres, also years ago', async () => {
    const own = ownDomain();
    const times = ['2018-12-31T23:59:59.999Z', '2019-01-01T00:00:00.000Z', new Date(now - 1000).toISOString()];
    const { body: before } = await reader(own).organization();
    const answer = await post(own, lines(times.map((time) => rowAt(time, { decision: 'withdraw' }))));
    expect(answer.body.queued).toBe(3);
    await eventually(async () => {
      for (const day of ['2018-12-31', '2019-01-01', dayOf(now - 1000)]) {
        const { body, headers } = await reader(own).stats(own.domainId, `from=${day}&to=${day}`);
        const source = headers.get('x-stats-source');
        expect([day, source, body.total, body.breakdown.withdraw]).toEqual([day, 'redis', 1, 1]);
      }
      // only the one of this month counts towards its limit
      expect((await reader(own).organization()).body.usage.used - before.usage.used).toBe(
        monthOf(now - 1000) === monthOf(Date.now()) ? 1 : 0,
      );
    });
    await eventually(async () =>
      expect(await createCli(own.env).json('counters', 'check')).toMatchObject({ differences: [] }),
    );
  });

  it('takes the NDJSON and the CSV of an export', async () => {
    const first = ownDomain();
    const full = {
      decision: 'custom',
      visitorId: '=1+1',
      preferences: { marketing: false, statistics: true },
      policyVersion: "'quoted",
      variant: '',
      region: 'us-ca',
      model: 'none',
      ip: '203.0.113.0',
      userAgent: 'Example "1", of ü',
      gpc: false,
      metadata: { text: 'a,"b"\nc' },
    };
    await post(first, lines([rowAt(new Date(now - 5_000).toISOString(), full), rowAt('2022-02-02T00:00:00.000Z')]));
    const without = ({ log: _, position: __, domainId: ___, ...rest }: FullRecord) => rest;
    const expected = (await stored(first, 2)).map(without);
    expect(expected.find(({ model }) => model !== null)).toMatchObject({ region: 'US-CA', model: 'none' });
    for (const [format, mark] of [
      ['ndjson', ''],
      ['csv', ''],
      ['csv', '\ufeff'],
    ] as const) {
      const own = ownDomain();
      const { body } = await reader(first).get<string>(`/v1/consent/${first.domainId}/export?format=${format}`);
      expect(counted(await post(own, mark + body, { format }))).toEqual({ ...none, read: 2, queued: 2 });
      expect((await stored(own, 2)).map(without)).toEqual(expected);
      // one of no records, too
      const { body: empty } = await reader(first).get<string>(
        `/v1/consent/${first.domainId}/export?format=${format}&decision=withdraw`,
      );
      expect(counted(await post(own, mark + empty, { format }))).toEqual(none);
    }
  });

  it('that ends within its first batch is an administrative act, too: some of that may be stored', async () => {
    const queued = createSlots({ slots: 1 });
    let isWaiting = false;
    const take: typeof queued.take = (key, signal) => {
      isWaiting = true;
      return queued.take(key, signal);
    };
    const api = await startApi(stack.env, { slots: { ...createSharedSlots(), queued: { ...queued, take } } });
    const leave = queued.tryTake('another organization');
    const own: OwnStack = { ...ownDomain(), api };
    const upload = open(own);
    upload.end(lines([rowAt('2022-01-01T00:00:00.000Z')]));
    await eventually(() => expect(isWaiting).toBe(true));
    upload.destroy();
    const details = { read: 1, queued: 0, isComplete: false };
    await eventually(async () => {
      const { acts } = await own.db.run((sql) => listActs(sql, { act: 'records.import', limit: 100 }));
      expect(acts.filter(({ subject }) => subject === own.domainId)).toMatchObject([{ details }]);
    });
    leave?.();
  });

  it('refuses a row and goes on, only counts in a dry run, and is an administrative act with its counts', async () => {
    const own = ownDomain();
    const row = rowAt('2022-01-01T00:00:00.000Z');
    const text = lines([row, row, { decision: 'x' }]);
    const expected = { read: 3, queued: 1, known: 1, rejected: 1, codes: ['3 invalid_request'] };
    expect(counted(await post(own, text, { query: '&dryRun=true' }))).toEqual(expected);
    await stored(own, 0);
    const answer = await post(own, text);
    expect(counted(answer)).toEqual(expected);
    const { acts } = await own.db.run((sql) => listActs(sql, { act: 'records.import', limit: 1 }));
    const { codes: _, ...details } = { ...expected, importId: answer.body.importId, isComplete: true };
    expect(acts).toMatchObject([{ actor: 'tester', act: 'records.import', subject: own.domainId, details }]);
    await stored(own, 1);
    // the list of imports, newest first
    const again = await post(own, text);
    const headers = { authorization: bearer(own, 'import') };
    const list = async (query = '') =>
      (await request<ImportsPage>(own.api.baseUrl, `/v1/organization/imports?limit=1${query}`, { headers })).body;
    const one = { ...details, domainId: own.domainId, at: acts[0]?.at.toISOString(), actor: 'tester' };
    const newest = await list();
    expect(newest.imports).toMatchObject([{ importId: again.body.importId, queued: 0, known: 2 }]);
    expect((await list(`&cursor=${newest.nextCursor}`)).imports).toEqual([one]);
  });

  it('is sealed with the time of the import, which the log alone says', async () => {
    const own = ownDomain();
    const before = Date.now();
    await post(own, lines([rowAt('2020-02-29T00:00:00.000Z', { visitorId: 'v' })]));
    const record = at(await stored(own, 1), 0);
    expect(record).not.toHaveProperty('importedAt');
    const proof = await eventually(async () => {
      const answer = await request<{ entry: string }>(
        own.api.baseUrl,
        `/v1/consent/${own.domainId}/records/${record.id}/proof`,
        { headers: { authorization: bearer(own, 'read'), accept: 'application/json' } },
      );
      expect(answer.status).toBe(200);
      return answer.body;
    });
    const entry = parseEntry(proof.entry);
    if (entry.type !== 'record') throw new Error('not a record');
    const importedAt = Date.parse(entry.importedAt ?? '');
    expect([importedAt >= before, importedAt <= Date.now()]).toEqual([true, true]);
    const { entries } = (await reader(own).get<{ entries: object[] }>(`/v1/consent/${own.domainId}/feed`)).body;
    expect(JSON.stringify(entries)).not.toContain('importedAt');
    const { db, domainId } = own;
    const check = async () => (await checkLogs({ db, redis: undefined, domainId })).differences.length;
    expect(await check()).toBe(0);
    await own.sql`update records set imported_at = imported_at + interval '1 second' where id = ${record.id}`;
    expect(await check()).toBe(1);
  });

  it('says that rows were stored before the one that is not in the encoding, unless none was to be', async () => {
    const of = ownDomain();
    const rows = Array.from({ length: 5_000 }, (_, n) => `accept_all,2021-03-01T00:00:00Z,https://a.example/${n}\n`);
    // 0xae is no letter of ISO 8859-7
    const file = Buffer.from(`decision,decidedAt,pageUrl\n${rows.join('')}\xae\n`, 'latin1');
    const refused = (query: string) => post(of, file, { format: 'csv', query: `&encoding=iso-8859-7${query}` });
    const notGreek = 'the file is not iso-8859-7';
    for (const [query, detail] of [
      ['&dryRun=true', notGreek],
      ['', `${notGreek}; the rows before that have been imported`],
    ] as const) {
      const answer = await refused(query);
      expectProblem(answer, 400, 'invalid_request');
      expect(answer.body.detail).toBe(detail);
    }
  });

  it('takes times, encodings and line ends as another program wrote them', async () => {
    const own = ownDomain();
    const table = 'decision,decidedAt,visitorId\raccept_all,25/11/2022 14:03,Zo\u00eb\rcustom,27/03/2022 02:30,x';
    const query = '&timeFormat=dd/MM/yyyy%20HH:mm&timeZone=Europe/Berlin&encoding=latin1';
    const answer = await post(own, Buffer.from(table, 'latin1'), { format: 'csv', query });
    expect(counted(answer)).toEqual({ ...none, read: 2, queued: 1, rejected: 1, codes: ['2 invalid_request'] });
    expect(answer.body.errors[0]?.detail).toContain('dd/MM/yyyy HH:mm that clocks in Europe/Berlin showed');
    const expected = { decidedAt: '2022-11-25T13:03:00.000Z', visitorId: 'Zo\u00eb' };
    expect(await stored(own, 1)).toMatchObject([expected]);
    // also where the type names the encoding, and the same row in another one is the same record
    const again = {
      format: 'csv',
      query: query.replace('&encoding=latin1', ''),
      type: 'text/csv; charset=utf-16',
    } as const;
    expect(counted(await post(own, Buffer.from(table, 'utf16le'), again))).toMatchObject({ read: 2, known: 1 });
  });

  it('refuses a whole file that it cannot read', async () => {
    const own = ownDomain();
    for (const wrong of ['timeFormat=HH:mm', 'timeZone=Mars/Base', 'encoding=utf-7'])
      expectProblem(await post(own, '{}', { query: `&${wrong}` }), 400, 'invalid_request');
    const noRow = await post(own, 'decision,decidedAt\r', { format: 'csv' });
    expectProblem(noRow, 400, 'invalid_request');
    expect(noRow.body.detail).toContain('no rows');
    for (const charset of ['US-ASCII', '"utf-8"'])
      expect((await post(own, '', { type: `application/x-ndjson; charset=${charset}` })).status).toBe(200);
    for (const type of ['text/csv', 'application/x-ndjson; charset=utf-7'])
      expectProblem(await post(own, '{}', { type }), 415, 'unsupported_media_type');
    expectProblem(await post(own, '{}', { query: '&dryRun=1' }), 400, 'invalid_request');
    expectProblem(await post({ ...own, domainId: 'dom_unknown' }, '{}'), 404, 'domain_not_found');
    expect(counted(await post(own, '', { format: 'csv' }))).toEqual(none);
  });

  it('a refused client can read why, however much it still sends', async () => {
    const own = ownDomain();
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    expectProblem(await post(own, body, { type: 'application/json' }), 415, 'unsupported_media_type');
    expectProblem(await post(own, body, { scope: 'read manage privacy' }), 403, 'insufficient_scope');
    expectProblem(await post(own, body, { query: '&x=1' }), 400, 'invalid_request');
  });

  it('refuses what retention has dropped', async () => {
    const own = ownDomain();
    // no other test uses it or the months beside it
    const month = '2018-08';
    await own.sql`insert into record_months (month, dropped_at) values (${month}, now())`;
    try {
      const rows = [month, addMonths(month, 1)].map((each) => rowAt(`${each}-15T00:00:00Z`));
      const expected = { ...none, read: 2, queued: 1, rejected: 1, codes: ['1 past_retention'] };
      expect(counted(await post(own, lines(rows)))).toEqual(expected);
      expect(await own.db.run(listDroppedMonths)).toEqual([month]);
    } finally {
      await own.sql`delete from record_months where month = ${month}`;
    }
  });

  it('takes longer than other requests may, has its place, and keeps what came before it was cut', async () => {
    const { of, since, uploads, answers } = long;
    const total = async ({ domainId }: OwnStack) => (await reader(of(0)).records(domainId)).body.total;
    for (const index of uploads.keys())
      await eventually(async () => {
        const stored = await total(of(index));
        expect([index, answers[index], stored >= 500 || stored]).toEqual([index, {}, true]);
      });
    const refused = await post(of(0), '');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.body.detail).toContain('your organization');
    // what two organizations hold open takes no place from a third
    const [second, third] = [await makeTenant(stack.db), await makeTenant(stack.db)];
    const ofOther = (tenant: Tenant) => ({ ...stack, tenant, domainId: at(tenant.domainIds, 0) });
    const dryRuns = [0, 1, 2, 3, 4].map(() => open(ofOther(second), '&dryRun=true'));
    const ofDryRuns = dryRuns.map(answerTo);
    for (const upload of dryRuns) upload.write('\n');
    await eventually(() => expect(ofDryRuns.map(({ early }) => early).toSorted()).toEqual([429, ...Array(4)]));
    expect(counted(await post(ofOther(third), ''))).toEqual(none);
    for (const upload of dryRuns) upload.destroy();
    // past the 4.5 s in which any other request has to be complete
    await eventually(() => expect(Date.now() - since).toBeGreaterThan(6_000));
    expect(uploads.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
    for (const upload of uploads) upload.destroy();
    const again = await eventually(async () => {
      const answer = await post(of(0), text);
      expect(answer.status).toBe(200);
      return answer.body;
    });
    expect([again.read, again.known + again.queued, again.known >= 500]).toEqual([1_000, 1_000, true]);
    await stored(of(0), 1_000);
    expect(counted(await post(of(0), text))).toEqual({ ...none, read: 1_000, known: 1_000 });
  });
});
