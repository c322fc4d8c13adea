/** Which rows of a file are imported, and why the others are not. */
import { describe, expect, it } from 'vitest';
import { makeIdAt } from '#libs/base/terms/calendar';
import { importLimits } from '#libs/log/import/contract';
import { readCsv } from '#libs/log/import/csv';
import { emptyCounts, importRows, TooManyRows } from '#libs/log/import/import-rows';
import { readNdjson } from '#libs/log/import/ndjson';
import type { Rows } from '#libs/log/import/rows';
import { createToRecord } from '#libs/log/import/to-record';
import type { RecordBody } from '#libs/record/contract';

const now = Date.now();
const day = 86_400_000;

const toRecord = createToRecord({
  domainId: 'dom_x',
  key: Buffer.from('a key of the organization'),
  now,
  ip: { mode: 'truncated', hashKey: undefined },
  isPastRetention: (month) => month <= '2018-08',
  importId: 'imp_x',
});

/** Imports a file of one piece, and returns what is counted. */
async function run(text: string, maxRows?: number, read: (bytes: AsyncIterable<Buffer>) => Rows = readNdjson) {
  const pieces = async function* () {
    yield Buffer.from(text);
  };
  const counts = emptyCounts();
  const parts = { rows: read(pieces()), toRecord, findKnown: async () => new Set<string>(), held: { count: 0 } };
  await importRows({ ...parts, ...(maxRows && { maxRows }) }, counts);
  const { errors, ...numbers } = counts;
  return { ...numbers, codes: errors.map(({ row, code }) => `${row} ${code}`), errors };
}

const good = { decision: 'accept_all', decidedAt: '2022-05-05T05:05:05.000Z' };
const at = (decidedAt: string) => ({ ...good, decidedAt });

it.each<[string, string | object, string]>([
  ['no JSON', '{', 'invalid_json'],
  ['no object', '[1]', 'invalid_json'],
  ['thousands of levels', '['.repeat(50_000), 'invalid_json'],
  ['half a character', '"\\ud800"', 'invalid_json'],
  ['an unknown decision', { ...good, decision: 'yes' }, 'invalid_request'],
  ['a time without its zone', at('2022-05-05T05:05:05'), 'invalid_request'],
  ['a number for a time', { ...good, decidedAt: 1_600_000_000_000 }, 'invalid_request'],
  ['an id that is none', { ...good, id: 'x' }, 'invalid_request'],
  ['an id of another time', { ...good, id: makeIdAt(now) }, 'invalid_request'],
  ['categories that say nothing', { ...good, decision: 'custom', preferences: 'all' }, 'invalid_request'],
  ['NUL in what it is known by', { ...good, externalId: 'a\0b' }, 'invalid_request'],
  ['1 MB', { ...good, visitorId: 'x'.repeat(1_000_000) }, 'invalid_request'],
  ['before the GDPR', at('2018-05-24T23:59:59.999Z'), 'time_out_of_range'],
  ['tomorrow', at(new Date(now + day).toISOString()), 'time_out_of_range'],
  ['an id of 1970', { decision: 'custom', id: makeIdAt(0) }, 'time_out_of_range'],
  ['a month that was dropped', at('2018-08-15T00:00:00Z'), 'past_retention'],
])('a row is refused, and the next one is not: %s', async (_, row, code) => {
  const text = typeof row === 'string' ? row : JSON.stringify(row);
  const { errors, ...counts } = await run(`${text}\n\n${JSON.stringify(good)}`);
  expect(counts).toMatchObject({ read: 2, queued: 1, known: 0, rejected: 1, codes: [`1 ${code}`] });
  expect(errors[0]?.detail.length).toBeLessThan(600);
});

it('a row loses what describes it and breaks a rule, and nothing else; the answer counts rows by field', async () => {
  const wrong = [
    { visitorId: 7, preferences: 'all', language: 'de_DE', tcString: null },
    { visitorId: 'a\0b', preferences: [], metadata: { shop: {}, plan: 'x' } },
    { ip: '1.2.3', country: 'Germany', bot: 'yes', userAgent: '\ud800', receivedAt: 'yesterday' },
    { receivedAt: '1999-01-01T00:00:00Z', pageUrl: '/about' },
  ];
  const rows = wrong.map((fields) => ({ ...good, ...fields }));
  const lost = ['preferences', 'visitorId', 'metadata.shop', 'ip', 'country', 'bot', 'userAgent', 'pageUrl'];
  expect(await run(rows.map((row) => JSON.stringify(row)).join('\n'))).toMatchObject({
    read: 4,
    queued: 4,
    rejected: 0,
    fieldsIgnored: { ...Object.fromEntries(lost.map((field) => [field, 1])), receivedAt: 2 },
  });
  const recordOf = (given: object) => toRecord({ row: 1, given: { ...given }, text: '' });
  expect(recordOf(rows[0] ?? {})).toMatchObject({
    record: { visitorId: '7', language: 'de-DE', preferences: undefined },
  });
  expect(recordOf(rows[1] ?? {})).toMatchObject({ record: { preferences: {}, metadata: { plan: 'x' } } });
  expect(recordOf(rows[3] ?? {})).toMatchObject({ record: { receivedAt: new Date(now).toISOString() } });
  // names of entries are the file's own: the first are counted by themselves
  const many = Array.from({ length: 120 }, (_, index) => JSON.stringify({ ...good, metadata: { [`k${index}`]: {} } }));
  const { fieldsIgnored = {} } = await run(many.join('\n'));
  expect([Object.keys(fieldsIgnored).length, fieldsIgnored['…']]).toEqual([101, 20]);
});

it('cells that say nothing, or whose text is not known, are counted by field; what decides costs its row', async () => {
  const lost = String.raw`"x \"y\""`;
  const rows = [
    'decision,decidedAt,id,externalId,visitorId,preferences,ip,other',
    'accept_all,2022-05-05T05:05:05Z,NULL,NULL,NULL,\\N,,NULL',
    'accept_all,2022-05-05T05:05:05Z,NULL,NULL,NULL,\\N,x,NULL',
    `reject_all,2022-05-05T05:05:05Z,,,${lost},${lost},,1`,
    `custom,2022-05-05T05:05:05Z,,,,${lost},,`,
    `custom,2022-05-05T05:05:05Z,,${lost},,,,`,
    'NULL,2022-05-05T05:05:05Z,NULL,,,,,',
  ];
  expect(await run(rows.join('\n'), undefined, readCsv)).toMatchObject({
    ...{ read: 6, queued: 3, rejected: 3 },
    codes: ['4 invalid_request', '5 invalid_request', '6 invalid_request'],
    ignored: ['other'],
    fieldsIgnored: { id: 2, externalId: 2, visitorId: 3, preferences: 3, ip: 1 },
  });
  const category = { ...good, 'preferences.ads': undefined };
  expect(toRecord({ row: 1, given: category, text: '' })).toMatchObject({ leftOut: [{ field: 'preferences.ads' }] });
});

it('every field of a record comes into the record', () => {
  const body: Required<RecordBody> = {
    decision: 'custom',
    id: makeIdAt(Date.parse('2022-05-05T05:05:05.000Z')),
    visitorId: 'v',
    preferences: { marketing: true },
    source: 'banner',
    bannerVersion: '1',
    policyVersion: '2',
    language: 'de',
    pageUrl: 'https://example.com/a',
    tcString: 't',
    gppString: 'g',
    gpc: false,
    metadata: { a: 1 },
    notice: 'a'.repeat(64),
    variant: 'b',
    model: 'opt_out',
  };
  const made = toRecord({ row: 1, given: body, text: JSON.stringify(body) });
  expect(made).toMatchObject({ record: { ...body, source: 'import' } });
});

describe('a file', () => {
  it('beside many others keeps the ids of its last rows alone, and counts none twice', async () => {
    const numbers = Array.from({ length: 2_500 }, (_, number) => number);
    const text = [...numbers, ...numbers.slice(-500), ...numbers.slice(0, -500)]
      .map((externalId) => JSON.stringify({ ...good, externalId }))
      .join('\n');
    const pieces = async function* () {
      yield Buffer.from(text);
    };
    const stored = new Set<string>();
    let onTheirWay: string[] = [];
    let most = 0;
    const held = { count: 0 };
    const counts = emptyCounts();
    await importRows(
      {
        rows: readNdjson(pieces()),
        toRecord,
        findKnown: async (rows) => new Set(rows.map(({ id }) => id).filter((id) => stored.has(id))),
        // as the throttle does: those before are stored by then
        store: async (records) => {
          for (const id of onTheirWay) stored.add(id);
          onTheirWay = records.map(({ id }) => id);
          most = Math.max(most, held.count);
        },
        held,
        mostIds: 1_000,
      },
      counts,
    );

    expect(counts).toMatchObject({ read: 5_000, queued: 2_500, known: 2_500 });
    expect(most).toBeLessThanOrEqual(1_500);
    expect(held.count).toBe(0);
  });

  it('that holds an externalId or a row twice has the first', async () => {
    const rows = [
      { ...good, externalId: 'a' },
      { ...good, externalId: 'a', decision: 'reject_all' },
      { ...good, externalId: 7 },
      { ...good, externalId: '7' },
      { ...good, visitorId: 'x' },
      { ...good, visitorId: 'x' },
      { ...good, visitorId: 'y' },
    ];
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(await run(text)).toMatchObject({ read: 7, queued: 4, known: 3, rejected: 0 });
  });

  it('lists the first 1,000 bad rows, and may have no more rows than that many', async () => {
    const { read, rejected, errors } = await run('x\n'.repeat(2_000), 2_000);
    expect([read, rejected, errors.length]).toEqual([2_000, 2_000, importLimits.errors]);
    await expect(run('x\n'.repeat(2_001), 2_000)).rejects.toThrow(TooManyRows);
  });
});
