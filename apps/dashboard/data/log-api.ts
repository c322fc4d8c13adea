/** The endpoints of records and notices. */

import { readText } from '#libs/client/request';
import type { logRoutes } from '#libs/log/routes';
import { type Asked, bodyOf, domainPath } from './calls.ts';
import { asJson, type Requests } from './requests.ts';

type RecordsQuery = Asked<(typeof logRoutes)['getRecords']>;
type ExportQuery = Asked<(typeof logRoutes)['exportDomain']>;

export const createLogApi = ({ call, getOk, getFile, getIfChanged }: Requests) => ({
  orgStats: (query: { limit?: number; cursor?: string }, signal?: AbortSignal) =>
    call('get /v1/consent/org-stats', { query, signal }).then(bodyOf),
  /** Like `orgStats`, but null if no total has changed since the last call that returned something. */
  orgStatsIfChanged: (query: { limit: number }, signal?: AbortSignal) =>
    getIfChanged('get /v1/consent/org-stats', { query, signal }),
  records: (domainId: string, query: RecordsQuery, signal?: AbortSignal) =>
    call(`get ${domainPath}/records`, { params: { domainId }, query, signal }).then(bodyOf),
  record: (domainId: string, recordId: string, signal?: AbortSignal) =>
    call(`get ${domainPath}/records/:recordId`, { params: { domainId, recordId }, signal }).then(bodyOf),
  /** Downloads all matching records of a domain. */
  export: (domainId: string, query: ExportQuery, signal?: AbortSignal) =>
    getFile(`get ${domainPath}/export`, { params: { domainId }, query, signal }),
  /** The notice that a visitor was shown, byte for byte. */
  notice: (domainId: string, hash: string, signal?: AbortSignal) =>
    getOk(`get ${domainPath}/notices/:hash`, { params: { domainId, hash }, signal }, asJson).then(readText),
});
