/** The endpoints of records, with what their visitors were shown. */

import { readText } from '#libs/client/request';
import type { logRoutes } from '#libs/log/routes';
import { type Asked, bodyOf, ofDomain } from './calls.ts';
import { asJson, type Requests } from './requests.ts';

type RecordsQuery = Asked<(typeof logRoutes)['getRecords']>;
type ExportQuery = Asked<(typeof logRoutes)['exportDomain']>;

export const createLogApi = ({ call, getOk, getFile, getMoved }: Requests) => ({
  orgStats: (query: { limit?: number; cursor?: string }, signal?: AbortSignal) =>
    call('get /v1/consent/org-stats', { query, signal }).then(bodyOf),
  /** The same, or null while no total has moved since the last answer to this question that was not null. */
  movedOrgStats: (query: { limit: number }, signal?: AbortSignal) =>
    getMoved('get /v1/consent/org-stats', { query, signal }),
  records: (domainId: string, query: RecordsQuery, signal?: AbortSignal) =>
    call(`get ${ofDomain}/records`, { params: { domainId }, query, signal }).then(bodyOf),
  record: (domainId: string, recordId: string, signal?: AbortSignal) =>
    call(`get ${ofDomain}/records/:recordId`, { params: { domainId, recordId }, signal }).then(bodyOf),
  /** All records of a domain that match, as a file. */
  export: (domainId: string, query: ExportQuery, signal?: AbortSignal) =>
    getFile(`get ${ofDomain}/export`, { params: { domainId }, query, signal }),
  /** What a visitor was shown: the document as it was sent. */
  notice: (domainId: string, hash: string, signal?: AbortSignal) =>
    getOk(`get ${ofDomain}/notices/:hash`, { params: { domainId, hash }, signal }, asJson).then(readText),
});
