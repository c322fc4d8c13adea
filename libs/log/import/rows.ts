/** Rows of a file, as its reader yields them. */
import type { Refusal } from './contract.ts';
import { Unreadable } from './encodings.ts';

export type Row =
  | {
      /** from 1 */
      row: number;
      /** undefined: of a CSV, a cell that stands for null, such as NULL */
      given: Record<string, unknown>;
      /** the row as it is in the file: without an id, the same text is the same record */
      text: string;
      refusal?: undefined;
    }
  | { row: number; refusal: Refusal; text: string; given?: undefined };

/** Those of one piece of the file, in order. */
export type Rows = AsyncIterable<Row[]>;

/** Without this error, a file in which no row is found would look imported. */
export const withoutRows = (): Unreadable => new Unreadable('the file has no rows; nothing was imported');
