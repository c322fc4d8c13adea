/** Where an export was cut off, at every byte of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ExportFormat } from '#libs/base/terms/terms';
import { readCutFile } from '#libs/log/export/cut-file';
import { headers } from '#libs/log/export/lines';

const folder = mkdtempSync(path.join(tmpdir(), 'cut-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ids = ['a', 'b'].map((digit) => `01a1f884-ec04-7250-ab99-53bae10040b${digit}`);
const cells = headers.csv.trimEnd().split(',');
const csvRow = (id: string) =>
  cells.map((name) => ({ id, domainId: 'dom_1', visitorId: '"ä ""1"",\r\n2\n"' })[name] ?? '').join(',');
const rows: Record<ExportFormat, string[]> = {
  ndjson: ids.map((id) => `${JSON.stringify({ id, domainId: 'dom_1', visitorId: 'ä"\r\n' })}\n`),
  csv: ids.map((id) => `${csvRow(id)}\r\n`),
};
const end = '{"end":true,"count":2}\n';

const read = (name: string, text: string | Uint8Array, format: ExportFormat) => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return readCutFile(file, format);
};

describe('readCutFile', () => {
  it.each(['ndjson', 'csv'] as const)('finds the last whole record of %s wherever it is cut', async (format) => {
    const text = Buffer.from(headers[format] + rows[format].join('') + (format === 'ndjson' ? end : ''));
    const sizeOf = (records: number) => Buffer.byteLength(headers[format] + rows[format].slice(0, records).join(''));
    for (let size = 0; size <= text.length; size += 1) {
      const records = [1, 2].filter((count) => sizeOf(count) <= size).length;
      const isComplete = size === text.length && format === 'ndjson';
      const last = records === 0 || isComplete ? null : { domainId: 'dom_1', id: ids[records - 1] };
      const whole = isComplete ? size : sizeOf(0) <= size ? sizeOf(records) : 0;
      const found = await read('cut', text.subarray(0, size), format);
      expect([size, found]).toEqual([size, { whole, records, last, isComplete }]);
    }
  });

  it('reads a file of nothing, and one longer than a piece that is read at once', async () => {
    const nothing = '{"end":true,"count":0}\n';
    const empty = { whole: nothing.length, records: 0, isComplete: true };
    expect(await read('nothing', nothing, 'ndjson')).toMatchObject(empty);
    const many = 5_000;
    for (const format of ['ndjson', 'csv'] as const) {
      const text = headers[format] + rows[format].slice(0, 1).join('').repeat(many);
      const found = { whole: Buffer.byteLength(text), records: many, last: { id: ids[0] } };
      expect(await read('long', `${text}"x`, format)).toMatchObject(found);
    }
  });

  it.each<[string, ExportFormat, string]>([
    ['of something else', 'csv', 'a,b\r\n1,2\r\n'],
    ['without a line', 'csv', 'precious'],
    ['of text', 'ndjson', 'precious\n'],
    ['of other objects', 'ndjson', '{"a":1}\n'],
    ['of one object without a line end', 'ndjson', '{"id":"mine","precious":1}'],
    ['in the other format', 'ndjson', headers.csv],
  ])('refuses a file %s', async (_, format, text) => {
    await expect(read('other', text, format)).rejects.toThrow(`is not an export as ${format}`);
  });
});
