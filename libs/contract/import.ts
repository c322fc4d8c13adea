/** An import: its formats, its limits, and why a row is refused. */

export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

export const importTypes: Record<ImportFormat, string> = { ndjson: 'application/x-ndjson', csv: 'text/csv' };

export const importLimits = {
  rows: 250_000,
  bytes: 256 * 1024 * 1024,
  /** of one row; a record with all of its fields as long as they may be has a quarter of it */
  rowBytes: 128 * 1024,
  /** errors in the answer */
  errors: 1_000,
  /** names of fields that were left out, in the answer */
  ignored: 100,
};

/** The day from which the GDPR applies: no consent log is older. */
export const importedSince = Date.parse('2018-05-25T00:00:00.000Z');

export const importErrorCodes = ['invalid_json', 'invalid_request', 'time_out_of_range', 'past_retention'] as const;
export type ImportErrorCode = (typeof importErrorCodes)[number];

/** Why a row is not imported. */
export interface Refusal {
  code: ImportErrorCode;
  detail: string;
}
