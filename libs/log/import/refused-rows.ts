/** Writes rejected rows as CSV: `row,code,detail,text`. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { csvCell } from '#libs/base/terms/csv';
import type { Refusal } from './contract.ts';

interface RefusedRows {
  /** Returns a promise while the disk has to catch up. */
  add(row: number, refusal: Refusal, text: string): Promise<unknown> | undefined;
  close(): Promise<void>;
}

export function writeRefused(file: string): RefusedRows {
  const stream = createWriteStream(file, { mode: 0o600 });
  // `close` throws the error
  stream.on('error', () => {});
  stream.write('row,code,detail,text\r\n');
  return {
    add: (row, { code, detail }, text) => {
      const isFull = !stream.write(`${[String(row), code, detail, text].map(csvCell).join(',')}\r\n`);
      return isFull && !stream.errored ? once(stream, 'drain') : undefined;
    },
    close: () => finished(stream.end()),
  };
}
