/** Files as other programs write them: their times, encodings and line ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { IANAZone } from 'luxon';
import { afterAll, describe, expect, it } from 'vitest';
import { headers } from '#libs/log/export/lines';
import { type Columns, createFieldsOf } from '#libs/log/import/columns';
import { readCsv } from '#libs/log/import/csv';
import { isReadable } from '#libs/log/import/encodings';
import { readNdjson } from '#libs/log/import/ndjson';
import { readColumns, readPreset } from '#libs/log/import/presets';
import type { Rows } from '#libs/log/import/rows';
import { formatProblem, isTimeZone } from '#libs/log/import/time-rules';
import { createTimeReader } from '#libs/log/import/times';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const valuesOf = async (rows: Rows) => {
  const found: unknown[] = [];
  for await (const some of rows) found.push(...some.map(({ given, refusal }) => given ?? refusal));
  return found;
};

const berlin = 'Europe/Berlin';
it.each<[unknown, string | undefined, string | undefined, string | undefined]>([
  ['25/11/2026 14:03', 'dd/MM/yyyy HH:mm', undefined, '2026-11-25T14:03:00.000Z'],
  ['25/11/2026 14:03', 'dd/MM/yyyy HH:mm', berlin, '2026-11-25T13:03:00.000Z'],
  ['11/25/26 2:03 PM', 'M/d/yy h:mm a', 'America/New_York', '2026-11-25T19:03:00.000Z'],
  ['11/25/26,\u00a02:03\u202fam', 'M/d/yy, h:mm a', undefined, '2026-11-25T02:03:00.000Z'],
  ['25 Nov 2026', 'd MMM yyyy', berlin, '2026-11-24T23:00:00.000Z'],
  ['2026-11-25 at 14:03:05.250 +0530', "yyyy-MM-dd 'at' HH:mm:ss.SSS ZZZ", berlin, '2026-11-25T08:33:05.250Z'],
  // the hour of the change to winter time: the first one
  ['2026-10-25 02:30', 'yyyy-MM-dd HH:mm', berlin, '2026-10-25T00:30:00.000Z'],
  ['2026-11-01 01:30', 'yyyy-MM-dd HH:mm', 'America/New_York', '2026-11-01T05:30:00.000Z'],
  ['2026-04-05 01:45', 'yyyy-MM-dd HH:mm', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z'],
  // the hour that never was
  ['2026-03-29 02:30', 'yyyy-MM-dd HH:mm', berlin, undefined],
  ['2011-12-30 12:00', 'yyyy-MM-dd HH:mm', 'Pacific/Apia', undefined],
  ['2026-03-29 03:00', 'yyyy-MM-dd HH:mm', berlin, '2026-03-29T01:00:00.000Z'],
  ['1763632800', 'unix', berlin, '2025-11-20T10:00:00.000Z'],
  [1763632800.5, 'unix', undefined, '2025-11-20T10:00:00.500Z'],
  ['1763632800,5', 'unix', undefined, '2025-11-20T10:00:00.500Z'],
  ['1,763,632,800', 'unix', undefined, undefined],
  // what a spreadsheet shows of it has lost digits
  ['1.76363E+12', 'unix-ms', undefined, undefined],
  ['1763632800123', 'unix-ms', undefined, '2025-11-20T10:00:00.123Z'],
  ['9e99', 'unix', undefined, undefined],
  // milliseconds
  ['1763632800123', 'unix', undefined, undefined],
  ['', 'unix', undefined, undefined],
  ['2026-11-25T14:03:00Z', 'dd/MM/yyyy HH:mm', undefined, undefined],
  ['31/02/2026 14:03', 'dd/MM/yyyy HH:mm', undefined, undefined],
  [7, 'dd/MM/yyyy HH:mm', undefined, undefined],
  ['2026-11-25 14:03', undefined, berlin, '2026-11-25T13:03:00.000Z'],
  ['2026-11-25T14:03:00+05:00', undefined, berlin, '2026-11-25T09:03:00.000Z'],
  ['2026-11-25 14:03:00.5 UTC', undefined, berlin, '2026-11-25T14:03:00.500Z'],
  ['2026-11-25 14:03:00.123456+02', undefined, berlin, '2026-11-25T12:03:00.123Z'],
  ['2026-11-25 14:03:00 -0330', undefined, berlin, '2026-11-25T17:33:00.000Z'],
  ['2026-11-25 14:03:00+2', undefined, berlin, undefined],
  ['2026-11-31 14:03', undefined, berlin, undefined],
])('%j by %s in %s is %s', (text, format, zone, time) => {
  expect(createTimeReader({ format, zone }).read(text)).toBe(time);
});

it('zones are not kept for as many spellings as a file, or requests, may have of them', () => {
  const spellings = Array.from({ length: 260 }, (_, at) =>
    [...'europe/berlin'].map((letter, bit) => ((at >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
  const first = IANAZone.create('EUROPE/BERLIN');
  const { read } = createTimeReader({ format: 'yyyy-MM-dd z' });
  for (const zone of spellings) expect(read(`2026-01-01 ${zone}`)).toBe('2025-12-31T23:00:00.000Z');
  expect(IANAZone.create('EUROPE/BERLIN')).not.toBe(first);
  const second = IANAZone.create('EUROPE/BERLIN');
  for (const zone of spellings)
    expect(createTimeReader({ zone }).read('2026-01-01 00:00')).toBe('2025-12-31T23:00:00.000Z');
  expect(IANAZone.create('EUROPE/BERLIN')).not.toBe(second);
});

it('a time in another format is not said to be one that the clocks skipped', () => {
  const { problem } = createTimeReader({ format: 'dd.MM.yyyy HH:mm', zone: berlin });
  expect(problem('2026-03-29 02:30')).toBe('must be a time by dd.MM.yyyy HH:mm');
  expect(createTimeReader({ format: 'unix' }).problem('1763632800123')).toContain('seconds since 1970, by unix');
  expect(problem('29.03.2026 02:30')).toContain('clocks in Europe/Berlin showed: they skipped this one');
});

it('a format says year, month and day in letters that are known; a zone and an encoding have a name', () => {
  const formats = ['dd/MM/yyyy HH:mm', 'unix', 'unix-ms', "yyyyMMdd'T'HHmmssSSS", 'MMMM d, yyyy h:mm a', 'd.M.yy'];
  expect(formats.map(formatProblem)).toEqual(formats.map(() => undefined));
  const wrong: Record<string, string> = {
    '': 'the year (yyyy) is missing',
    'HH:mm': 'the year (yyyy) is missing',
    'dd/mm/yyyy': 'the month (MM) is missing',
    'DD.MM.YYYY HH:mm': 'DD is unknown (days are d or dd), YYYY is unknown (years are yy or yyyy)',
    'dd.MM.yyyy hh:mm': 'hh needs a for AM or PM; HH has 24 hours',
    "yyyy-MM-dd 'x": 'a quote is not closed',
    'yyyy-MM-ddTHH:mm': "T is unknown (put literal text in quotes: 'T')",
    // there are more ways to read twenty digits by it than can be tried
    [`yyyyMMdd${'sS'.repeat(20)}`]: 's repeats an earlier part',
    'd.M.yyyy H:m h a': 'h repeats an earlier part',
    constructor: 'is unknown',
    ['M'.repeat(60).concat('q')]: 'is unknown',
  };
  for (const [format, problem] of Object.entries(wrong)) expect(formatProblem(format)).toContain(problem);
  expect(['UTC', berlin, 'Asia/Kolkata', 'x', '', 'Mars/Base', '../etc'].map(isTimeZone)).toEqual([
    ...[true, true, true],
    ...[false, false, false, false],
  ]);
  expect(
    ['utf-8', 'UTF8', 'utf-16', 'utf-16be', 'latin1', 'windows-1252', 'macintosh'].filter((each) => !isReadable(each)),
  ).toEqual([]);
  expect(['', 'x', 'utf-7', 'gzip', 'utf-32', '__proto__'].filter(isReadable)).toEqual([]);
});

describe('a file', () => {
  const text = 'decision,visitorId\r\naccept_all,Zoë €\r\n';
  const rows = [{ decision: 'accept_all', visitorId: 'Zoë €' }];
  const utf16be = (given: string) => Buffer.from(given, 'utf16le').swap16();

  it.each<[string, Buffer, string | undefined]>([
    ['UTF-8', Buffer.from(text), undefined],
    ['UTF-8 with a mark that overrides it', Buffer.from(`\ufeff${text}`), 'latin1'],
    ['UTF-16 by its mark', Buffer.from(`\ufeff${text}`, 'utf16le'), undefined],
    ['UTF-16 in the other order by its mark', utf16be(`\ufeff${text}`), 'utf-8'],
    ['UTF-16 by its name', Buffer.from(text, 'utf16le'), 'utf-16'],
    ['Latin-1', Buffer.from(text.replace('€', '\x80'), 'latin1'), 'latin1'],
  ])('in %s is read as it was written, wherever it is cut', async (_, bytes, encoding) => {
    for (const size of [1, 2, 3, 7, 1_000])
      expect(await valuesOf(readCsv(inPieces(bytes, size), { encoding }))).toEqual(rows);
  });

  it('that is not in its encoding is refused as a whole, also UTF-16 that does not say so', async () => {
    const odd = Buffer.concat([Buffer.from(`\ufeff${text}`, 'utf16le'), Buffer.from([0])]);
    await expect(valuesOf(readCsv(inPieces(odd, 100)))).rejects.toThrow('the file is not utf-16le');
    const unmarked = inPieces(Buffer.from(text, 'utf16le'), 100);
    await expect(valuesOf(readCsv(unmarked))).rejects.toThrow('give its encoding, utf-16');
  });

  it.each<[string, string, typeof readNdjson]>([
    ['a CSV with a header alone', 'decision,decidedAt\r\n', readCsv],
    ['a CSV of line breaks', '\r\n\r\n', readCsv],
    ['an NDJSON of blank lines', '\n \n', readNdjson],
    ['a byte order mark', '\ufeff', readNdjson],
  ])('that has bytes and no row says so: %s', async (_, given, read) => {
    await expect(valuesOf(read(inPieces(Buffer.from(given), 100)))).rejects.toThrow('the file has no rows');
    expect(await valuesOf(read(inPieces(Buffer.alloc(0), 1)))).toEqual([]);
  });

  it('that has white space around its names, and empty cells at the end of a row, is read; a row that is cut off is not', async () => {
    const csv = Buffer.from('\ufeffdecision , visitorId\naccept_all,v,,\naccept_all,v,x\naccept_all\n');
    expect(await valuesOf(readCsv(inPieces(csv, 100)))).toEqual([
      { decision: 'accept_all', visitorId: 'v' },
      { code: 'invalid_request', detail: 'the header has 2 cells, the row 3' },
      { code: 'invalid_request', detail: 'the header has 2 cells, the row 1' },
    ]);
    const twice = Buffer.from('decision,a,a \n');
    await expect(valuesOf(readCsv(inPieces(twice, 100)))).rejects.toThrow('two columns are "a"');
  });

  describe('of another program', () => {
    const read = (rows: string[], columns?: Columns) =>
      valuesOf(readCsv(inPieces(Buffer.from(rows.join('\n')), 100), columns && { fieldsOf: createFieldsOf(columns) }));

    it.each([
      ...['NULL', 'null', 'Null', '(null)', '[NULL]', '<null>', '\\N', '\\N  ', '"NULL"', 'None'],
      ...['NaN', 'nan', 'NA', 'N/A', '#N/A', 'undefined'],
    ])('has cells that say nothing, in every column: %s', async (cell) => {
      const fields = ['externalId', 'visitorId', 'gpc', 'metadata', 'decidedAt', 'x'];
      const nothing = Object.fromEntries(fields.map((field) => [field, undefined]));
      const rows = [`decision,${fields.join(',')}`, `custom${`,${cell}`.repeat(fields.length)}`];
      expect(await read(rows)).toStrictEqual([{ decision: 'custom', ...nothing }]);
      const preset = { columns: { decision: 'Choice', visitorId: 'Who', 'preferences.ads': 'Ads' }, values: {} };
      const mapped = readColumns(preset, [], [`visitorId:${cell.trim().replaceAll('"', '')}=nobody`]);
      expect(await read(['Choice,Who,Ads', `custom,${cell},${cell}`], mapped)).toStrictEqual([
        { decision: 'custom', visitorId: 'nobody', 'preferences.ads': undefined },
      ]);
    });

    it('has Namibia and other texts that only look so', async () => {
      const texts = { decision: 'custom', country: 'NA', visitorId: 'null-1', language: 'na', variant: 'none' };
      expect(await read([Object.keys(texts).join(','), Object.values(texts).join(',')])).toEqual([texts]);
    });

    it.each([
      [true, ['t', 'T', '1', 'true', 'TRUE', 'yes', 'Y']],
      [false, ['f', 'F', '0', 'false', 'No', 'n', 'off']],
    ])('has other words for %j', async (value, words) => {
      const rows = words.map((word) => `custom,${word},${word} `);
      expect(await read(['decision,gpc,bot', ...rows])).toEqual(
        words.map(() => ({ decision: 'custom', gpc: value, bot: value })),
      );
      const mapped = readColumns({ columns: { 'preferences.ads': 'Ads' }, values: {} }, [], []);
      expect(await read(['decision,gpc,Ads', ...rows], mapped)).toEqual(
        words.map(() => ({ decision: 'custom', gpc: value, preferences: { ads: value } })),
      );
    });

    it('has cells that are padded with blanks; an externalId stays what it was for earlier imports', async () => {
      const padded = 'accept_all     ,2022-05-05T05:05:05Z  , v ,1 ,7   ,          ';
      expect(await read(['decision,decidedAt,visitorId,gpc,externalId,variant', padded])).toEqual([
        { decision: 'accept_all', decidedAt: '2022-05-05T05:05:05Z', visitorId: 'v', gpc: true, externalId: '7   ' },
      ]);
    });
  });

  it('may say its delimiter in a first line, as for Excel', async () => {
    for (const first of ['sep=;\r\n', 'SEP=\t\n', 'sep=|\r']) {
      const mark = first[4] ?? '';
      const file = `\ufeff${first}decision${mark}visitorId\naccept_all${mark}"a,b"\n`;
      const csv = Buffer.from(file.replaceAll('\n', first.endsWith('\r') ? '\r' : '\n'));
      expect(await valuesOf(readCsv(inPieces(csv, 100)))).toEqual([{ decision: 'accept_all', visitorId: 'a,b' }]);
    }
  });

  it('that is an export which another program has saved with semicolons has all its cells', async () => {
    const values = new Map([
      ['decision', 'custom'],
      ['metadata', '",""a"""'],
    ]);
    const names = headers.csv.trimEnd().split(',');
    const file = `${names.join(';')}\n${names.map((name) => values.get(name) ?? '').join(';')}\n`;
    expect(await valuesOf(readCsv(inPieces(Buffer.from(file), 100), { delimiter: ';' }))).toEqual([
      { decision: 'custom', metadata: ',"a"' },
    ]);
  });

  it.each([
    ['packed', gzipSync('{}\n'), 'the file is packed (gzip)'],
    ['a workbook', Buffer.from('PK\u0003\u0004xl/workbook.xml'), 'save it as CSV'],
  ])('that is %s is refused as a whole', async (_, bytes, problem) => {
    for (const reader of [readCsv, readNdjson])
      await expect(valuesOf(reader(inPieces(bytes, 100)))).rejects.toThrow(problem);
  });

  it('that is an export of no records is no mistake', async () => {
    expect(await valuesOf(readNdjson(inPieces(Buffer.from('{"end":true,"count":0}\n'), 100)))).toEqual([]);
  });
});

describe('a preset', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'preset-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'ours.json');
  const read = (text: string) => {
    writeFileSync(file, text);
    return readPreset(file);
  };

  it('may begin with a byte order mark', async () => {
    expect(await read('\ufeff{"columns":{"decision":"Wahl"}}')).toMatchObject({ columns: { decision: 'Wahl' } });
  });

  it.each([
    ['{"columns":{"decision":"Wahl"},}', ' is not valid JSON: '],
    ['{"timeFormat":"DD.MM.yyyy"}', ': timeFormat: must be'],
    ['{"delimiter":"ab"}', ': delimiter: must be one character'],
    ['{"columns":{"decison":"Wahl"}}', ': columns.decison: is no field; there are'],
    [
      '{"columns":{"preferences.Werbung & Co":"Werbung"}}',
      ': columns.preferences.Werbung & Co: a category has a name of',
    ],
    ['{"values":{"decision":{"ja":"yes"}}}', ': values.decision.ja: must be accept_all, reject_all,'],
  ])('%s is refused by the name of the file', async (text, problem) => {
    await expect(read(text)).rejects.toThrow(`${file}${problem}`);
  });

  it('has columns that options change, which are named where they are wrong', async () => {
    const preset = await read('{"columns":{"decision":"Wahl"},"values":{"decision":{"Ja":"accept_all"}}}');
    const { columns, values } = readColumns(preset, ['decision=a=b'], ['decision:nein=reject_all']);
    expect([columns.get('decision'), values.get('decision')?.size]).toEqual(['a=b', 2]);
    expect(() => readColumns(preset, ['decison=a'], [])).toThrow('--map decison=a: is no field');
    expect(() => readColumns(preset, [], ['decision:ja=yes'])).toThrow('--map-value decision:ja=yes: must be accept');
  });
});
