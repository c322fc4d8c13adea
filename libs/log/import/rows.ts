/** Rows of a file, as its reader yields them. */
import type { Refusal } from './contract.ts';
import { Unreadable } from './encodings.ts';

export type Row =
  | {
      /** from 1 */
      row: number;
      /** a field is present but undefined if its CSV cell stands for null, such as NULL */
      given: Record<string, unknown>;
      /** the row as it is in the file; it identifies the record if the row has neither `id` nor `externalId` */
      text: string;
      refusal?: undefined;
    }
  | { row: number; refusal: Refusal; text: string; given?: undefined };

/** Those of one piece of the file, in order. */
export type Rows = AsyncIterable<Row[]>;

/** Without this error, a file in which no row is found would look imported. */
export const noRowsError = (): Unreadable => new Unreadable('the file has no rows; nothing was imported');
