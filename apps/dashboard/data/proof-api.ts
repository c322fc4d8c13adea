/** The endpoints of sealed logs. They return text, which is kept as it was sent. */

import { AssentError } from '#libs/client/assent-error';
import { readText } from '#libs/client/request';
import type { FullRecord } from '#libs/record/contract';
import { domainPath } from './calls.ts';
import { asJson, asText, type Requests } from './requests.ts';

export interface Sealed {
  /** number of sealed entries, at least 1 */
  size: number;
  /** RFC 3339; null if the response lacks it */
  at: string | null;
}

const ofLog = ({ log }: FullRecord) => ({ log: log ?? undefined });

export const createProofApi = ({ getOk }: Requests) => ({
  /** How far the domain's log is sealed; null if nothing is. */
  sealed: (domainId: string, signal?: AbortSignal): Promise<Sealed | null> =>
    getOk(`get ${domainPath}/log/checkpoint`, { params: { domainId }, signal }, asText).then(
      readSealed,
      (error: unknown) => {
        if (error instanceof AssentError && error.code === 'not_found') return null;
        throw error;
      },
    ),
  /** The bundle that proves a record. */
  proof: (record: FullRecord, signal?: AbortSignal) =>
    getOk(
      `get ${domainPath}/records/:recordId/proof`,
      { params: { domainId: record.domainId, recordId: record.id }, query: ofLog(record), signal },
      asJson,
    ).then(readText),
  /** Every key that signed the record's log, one per line. */
  verifierKeys: (record: FullRecord, signal?: AbortSignal) =>
    getOk(
      `get ${domainPath}/log/key`,
      { params: { domainId: record.domainId }, query: ofLog(record), signal },
      asText,
    ).then(readText),
  /** The proof file of any entry of a log. */
  entryProof: (domainId: string, log: number, position: number) =>
    getOk(
      `get ${domainPath}/log/entries/:position/proof`,
      { params: { domainId, position }, query: { log } },
      asText,
    ).then(readText),
});

/** The second line of a checkpoint is the log's size. */
async function readSealed(response: Response): Promise<Sealed> {
  const time = Date.parse(response.headers.get('last-modified') ?? '');
  const [, size] = (await readText(response)).split('\n');
  return { size: Number(size), at: Number.isNaN(time) ? null : new Date(time).toISOString() };
}
