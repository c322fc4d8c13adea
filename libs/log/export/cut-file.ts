/** How much of the file of an interrupted export is complete. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ExportFormat } from '#libs/base/terms/terms';
import { nil } from '#libs/epochs/slices';
import { readCsv } from '../import/csv.ts';
import { readNdjson } from '../import/ndjson.ts';
import { headers } from './lines.ts';

interface CutFile {
  /** bytes up to the end of the last complete row */
  whole: number;
  /** records in these bytes */
  records: number;
  /** null: there is none */
  last: { domainId: string; id: string } | null;
  /** Whether its last line says so; only NDJSON has such a line. */
  isComplete: boolean;
}

const newline = 0x0a;
const quote = 0x22;

/** Throws if the file is not an export of this format. */
export async function readCutFile(file: string, format: ExportFormat): Promise<CutFile> {
  const { rows, start, end } = await findLastRow(file, format);
  const refuse = () => new Error(`${file} is not an export as ${format}`);
  const found = await readRange(file, 0, longestBeginning);
  if (!beginnings[format].some((beginning) => isBegun(found, beginning, rows > 0))) throw refuse();
  const inHeader = format === 'csv' ? 1 : 0;
  if (rows <= inHeader) return { whole: end, records: 0, last: null, isComplete: false };
  const row = await readRange(file, start, end);
  if (format === 'ndjson' && row.startsWith('{"end":true,')) {
    return { whole: end, records: rows - 1, last: null, isComplete: true };
  }
  const last = lastRecordOf(await readRow(format, headers[format] + row));
  if (!last) throw refuse();
  return { whole: end, records: rows - inHeader, last, isComplete: false };
}

/** A 0 in the id stands for any hex digit. An NDJSON export without records consists only of its closing line. */
const beginnings: Record<ExportFormat, string[]> = {
  ndjson: [`{"id":"${nil}","domainId":"`, '{"end":true,'],
  csv: [headers.csv],
};
const longestBeginning = Math.max(...Object.values(beginnings).flatMap((each) => each.map(({ length }) => length)));

/** `isWhole`: the file has a complete row, so it must have the whole beginning; otherwise a part of it is enough. */
const isBegun = (found: string, beginning: string, isWhole: boolean): boolean =>
  (found.length >= beginning.length || !isWhole) &&
  [...found.slice(0, beginning.length)].every((character, at) =>
    beginning[at] === '0' ? /[0-9a-f]/.test(character) : character === beginning[at],
  );

/** Reads the file piece by piece. In CSV, a line break within quotes ends no row. */
async function findLastRow(file: string, format: ExportFormat) {
  const found = { rows: 0, start: 0, end: 0 };
  let offset = 0;
  let isQuoted = false;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    const bytes: Buffer = chunk;
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] === quote && format === 'csv') isQuoted = !isQuoted;
      if (bytes[at] !== newline || isQuoted) continue;
      found.rows += 1;
      found.start = found.end;
      found.end = offset + at + 1;
    }
    offset += bytes.length;
  }
  return found;
}

async function readRange(file: string, from: number, below: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(below - from), position: from });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Undefined if it cannot be read. */
async function readRow(format: ExportFormat, text: string): Promise<Record<string, unknown> | undefined> {
  const bytes = (async function* () {
    yield Buffer.from(text);
  })();
  for await (const rows of format === 'csv' ? readCsv(bytes) : readNdjson(bytes)) {
    for (const { given } of rows) return given;
  }
  return undefined;
}

function lastRecordOf(row: Record<string, unknown> | undefined): CutFile['last'] {
  const { domainId, id } = row ?? {};
  return typeof domainId === 'string' && typeof id === 'string' ? { domainId, id } : null;
}
