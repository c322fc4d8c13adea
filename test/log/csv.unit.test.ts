/** The CSV of imports: what is read of it, and what a broken row costs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvCell, withoutMark } from '#libs/base/terms/csv';
import { headers } from '#libs/log/export/lines';
import { importLimits } from '#libs/log/import/contract';
import { namesOf, readCsv } from '#libs/log/import/csv';
import { unreadable } from '#libs/log/import/csv-records';
import type { Row } from '#libs/log/import/rows';

const quoted = (cells: string[]): string => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(file: string | Buffer, size = 64 * 1024): Promise<Row[]> {
  const rows: Row[] = [];
  const fieldsOf = () => (cells: string[]) => ({ cells });
  for await (const some of readCsv(inChunks(Buffer.from(file), size), { fieldsOf })) rows.push(...some);
  return rows;
}

/** `'` before these is taken off, as exports put it there. */
const isKept = (cell: string) => withoutMark(cell) === cell;
const piece = fc.constantFrom('"', ',', '\n', '\r\n', '\r', ' ', "'", 'é', 'à', '😀', '\u2003', 'x');
const cell = fc.string({ unit: fc.oneof(piece, fc.string({ maxLength: 3 })), maxLength: 6 }).filter(isKept);
const line = cell.map((text) => text.replace(/[\r\n]/g, '')).filter(isKept);
/** Of one width, at least two columns. */
const tableOf = (cells: fc.Arbitrary<string>) =>
  fc
    .integer({ min: 2, max: 4 })
    .chain((width) =>
      fc.array(fc.array(cells, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
    );
/** Before the table: what makes a piece of the file end anywhere within it. */
const ahead = fc.integer({ min: 0, max: 300 });

function fileOf(rows: string[], width: number, padding: number, lineBreak: string): string {
  const header = Array.from({ length: width }, (_, index) => `c${index}`).join(',');
  const first = quoted(['x'.repeat(Math.max(0, 65_536 - padding)), ...Array.from({ length: width - 1 }, () => '')]);
  return [header, first, ...rows].join(lineBreak);
}

describe('CSV', () => {
  /** The cells that a spreadsheet makes of a line where it splits at this mark, quotes or not. */
  const splitAt = (mark: string, text: string) =>
    text.split(mark).map((cell, at) => cell.replace(at === 0 ? /^"?/ : /^[ \r\n"]*/, ''));
  const hostile = fc.string({
    unit: fc.constantFrom(...`;|\t=+-@＝＋－＠' "',\r\n\nx`),
    maxLength: 12,
  });

  it('leaves a spreadsheet no formula, wherever it splits a line, and reads back', () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const cell = csvCell(text);
        for (const mark of [';', '\t', '|', '\n', '\r'])
          expect(splitAt(mark, cell).filter((part) => /^[=+\-@＝＋－＠]/.test(part))).toEqual([]);
        const unquoted = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        expect(withoutMark(unquoted)).toBe(text);
        expect(/^"/.test(cell) || !/[;\t]/.test(cell)).toBe(true);
      }),
      { numRuns: 2_000 },
    ));

  const lineBreaks = fc.constantFrom('\n', '\r\n', '\r');
  const places = fc.array(fc.nat(10), { minLength: 1, maxLength: 3 });

  it('that was written with quotes reads back, cell by cell, wherever it is cut into pieces', () =>
    fc.assert(
      fc.asyncProperty(tableOf(cell), ahead, lineBreaks, fc.nat(1), async (table, padding, lineBreak, ended) => {
        const texts = table.map(quoted);
        const file = fileOf(texts, table[0]?.length ?? 0, padding, lineBreak) + lineBreak.repeat(ended);
        const [, ...rows] = await read(file, 1_009);
        expect(rows).toEqual(table.map((cells, index) => ({ row: index + 2, given: { cells }, text: texts[index] })));
      }),
    ));

  it.each([
    ['text after a quote', '"a"b,"c"', cell],
    ['a quote in a cell', 'a"b",c', cell],
    // within a cell that has line breaks it may as well be the end of one
    ['a quote that nothing closes', '"a,b', line],
    ['a quote more', 'a,b"', line],
  ])('loses a line to %s, and no other', (_, broken, cells) =>
    fc.assert(
      fc.asyncProperty(tableOf(cells), places, lineBreaks, async (table, at, lineBreak) => {
        const texts = table.map(quoted);
        for (const place of at) texts.splice(place % (texts.length + 1), 0, broken);
        const [, ...rows] = await read(fileOf(texts, table[0]?.length ?? 0, 65_536, lineBreak));
        expect(rows.map(({ row, text }) => [row, text])).toEqual(texts.map((text, index) => [index + 2, text]));
        expect(rows.filter(({ refusal }) => refusal).map(({ text }) => text)).toEqual(at.map(() => broken));
        expect(rows.flatMap(({ given }) => (given ? [given.cells] : []))).toEqual(table);
      }),
      { numRuns: 40 },
    ),
  );

  it.each<[string, string]>([
    ['PHP', String.raw`"{""q"":""say \"hi\"""}",é`],
    ['PHP, with an odd number of quotes', String.raw`"5\"",é`],
    ['PHP, over two lines', '"a \\"b\\", c\nd ""e""",é'],
    ['MySQL and Spark', String.raw`"say \"hi\", he said",é`],
  ])('of %s loses a cell with a quote behind a backslash, and nothing else', async (_, row) => {
    const [before, after] = ['"a ""b""\nc","C:\\"', '"d",e'];
    const file = ['h,k', before, row, row, after, row].join('\r\n');
    const lost = { cells: [unreadable, 'é'] };
    for (const size of [1, 7, 1_000])
      expect((await read(file, size)).map(({ given, text }) => [given, text])).toEqual([
        [{ cells: ['a "b"\nc', 'C:\\'] }, before],
        [lost, row],
        [lost, row],
        [{ cells: ['d', 'e'] }, after],
        [lost, row],
      ]);
  });

  it('of an export has empty texts in quotes, unless another program has put all cells in quotes', async () => {
    const names = headers.csv.trimEnd().split(',');
    const rowOf = (cell: (name: string) => string) => names.map(cell).join(',');
    const given = (name: string) => ({ id: 'x', decision: 'custom', visitorId: 'y' })[name] ?? '';
    const own = rowOf((name) => given(name) || (name === 'pageUrl' ? '""' : ''));
    const other = rowOf((name) => `"${given(name)}"`);
    const read = [];
    for await (const rows of readCsv(inChunks(Buffer.from(`${names.join(',')}\n${own}\n${other}\n`), 64)))
      read.push(...rows.map((row) => row.given));
    const fields = { id: 'x', decision: 'custom', visitorId: 'y' };
    expect(read).toEqual([{ ...fields, pageUrl: '' }, fields]);
  });

  it('of an export has its texts as they are, unless another program has written what is nothing there', async () => {
    const names = headers.csv.trimEnd().split(',');
    const rowOf = (given: Record<string, string>) => names.map((name) => given[name] ?? '').join(',');
    const own = { id: 'x', decision: 'custom', visitorId: 'NULL', variant: ' NA', language: 'None' };
    const other = { ...own, erasedAt: 'NULL ' };
    const escaped = { ...own, metadata: String.raw`"\",""x"`, pageUrl: '""' };
    const file = [names.join(','), ...[own, other, escaped].map(rowOf)].join('\r\n');
    const read = [];
    for await (const rows of readCsv(inChunks(Buffer.from(file), 64))) read.push(...rows.map((row) => row.given));
    const nothing = { visitorId: undefined, variant: undefined, language: undefined, erasedAt: undefined };
    expect(read).toEqual([own, { id: 'x', decision: 'custom', ...nothing }, { ...own, metadata: unreadable }]);
  });

  it('of an export of 0.1.0, which has no region and no model, is one as well', async () => {
    const names = headers.csv.trimEnd().replace(',region,model', '').split(',');
    const own: Record<string, string> = { id: 'x', decision: 'custom', visitorId: 'NULL' };
    const file = `${names.join(',')}\r\n${names.map((name) => own[name] ?? '').join(',')}\r\n`;
    const read = [];
    for await (const rows of readCsv(inChunks(Buffer.from(file), 64))) read.push(...rows.map((row) => row.given));
    expect([names.length, read]).toEqual([25, [own]]);
  });

  it('has rows of up to 128 KiB, and a longer one costs that row', async () => {
    const long = `a,${'x'.repeat(importLimits.rowBytes - 2)}`;
    const brokenQuotes = 'the quotes are broken: one is not closed within 128 KiB, or stands inside a cell';
    const rows = await read(['h,k', long, `${long}x\r`, `"${'\n'.repeat(200_000)}","b"`, long, '1,2'].join('\r\n'));
    expect(rows.map(({ row, refusal, text }) => [row, refusal?.detail, text.length])).toEqual([
      [1, undefined, long.length],
      [2, 'the row is longer than 128 KiB', 0],
      [3, brokenQuotes, 1],
      [4, brokenQuotes, 5],
      [5, undefined, long.length],
      [6, undefined, 3],
    ]);
  });

  // in a time that grows with the square of their number this would take minutes
  it('may have as many columns as fit into a row, each name once', () => {
    const names = Array.from({ length: 500_000 }, (_, at) => at.toString(36));
    expect(() => namesOf([...names, '', ''])).not.toThrow();
    expect(() => namesOf([...names, 'zz'])).toThrow('two columns are "zz"');
  });

  it('refuses rows that are not UTF-8, and no other', async () => {
    const rows = await read(
      Buffer.concat([
        Buffer.from('\ufeffh,k\nvoil\u00e0,\u00e0\n'),
        Buffer.from('"\xe9\n",b\n', 'latin1'),
        Buffer.from('ü,\u2003\n'),
      ]),
    );
    expect(rows).toEqual([
      { row: 1, given: { cells: ['voilà', 'à'] }, text: 'voilà,à' },
      {
        row: 2,
        refusal: { code: 'invalid_request', detail: 'the row is not UTF-8: give the encoding of the file' },
        text: '',
      },
      { row: 3, given: { cells: ['ü', '\u2003'] }, text: 'ü,\u2003' },
    ]);
  });
});
