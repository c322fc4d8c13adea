/** NDJSON: a JSON object a line. Lines that are too long are skipped as they arrive, so memory stays bounded. */
import { isUtf8 } from 'node:buffer';
import { createYield } from '#libs/base/event-loop';
import { importLimits } from './contract.ts';
import { inUtf8 } from './encodings.ts';
import { noRowsError, type Row, type Rows } from './rows.ts';

const newline = 0x0a;

/** `encoding`: one that `isReadable` */
export async function* readNdjson(
  bytes: AsyncIterable<Buffer>,
  { encoding }: { encoding?: string | undefined } = {},
): Rows {
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  let row = 0;
  const yieldNow = createYield();
  let [hasBytes, hasEnd] = [false, false];
  const take = (line: Buffer): Row[] => {
    const read = isTooLong || line.length > importLimits.rowBytes ? tooLong : parseLine(line);
    isTooLong = false;
    hasEnd ||= read === 'end';
    if (!read || read === 'end') return [];
    row += 1;
    return [{ row, ...read }];
  };
  for await (const chunk of inUtf8(bytes, encoding)) {
    hasBytes = true;
    const piece = Buffer.concat([rest, chunk]);
    const rows: Row[] = [];
    let from = 0;
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, from)) {
      rows.push(...take(piece.subarray(from, end)));
      from = end + 1;
      if (row % 100 === 0) await yieldNow();
    }
    rest = piece.subarray(from);
    if (isTooLong || rest.length > importLimits.rowBytes) {
      isTooLong = true;
      rest = Buffer.alloc(0);
    }
    if (rows.length > 0) yield rows;
  }
  const last = take(rest);
  if (last.length > 0) yield last;
  // an export of no records has its last line
  if (row === 0 && !hasEnd && hasBytes) throw noRowsError();
}

type Read = { given: Record<string, unknown>; text: string } | { refusal: NonNullable<Row['refusal']>; text: string };

const refuse = (detail: string, text: string): Read => ({ refusal: { code: 'invalid_json', detail }, text });
const tooLong: Read = {
  refusal: { code: 'invalid_request', detail: `the row is longer than ${importLimits.rowBytes / 1024} KiB` },
  text: '',
};

/** Undefined for an empty line; the line that ends our own exports is `end`. */
function parseLine(line: Buffer): Read | 'end' | undefined {
  if (!isUtf8(line)) return refuse('the row is not UTF-8: give the encoding of the file', '');
  const text = line.toString('utf8').trim();
  if (text === '') return undefined;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return refuse('the row is not JSON', text);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return refuse('the row must be a JSON object', text);
  }
  if ('end' in given && given.end === true && !('decision' in given)) return 'end';
  return { given: { ...given }, text };
}
