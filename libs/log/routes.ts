/** The log: what an overview shows, pages, one record, feed, exports, imports. */
import { z } from 'zod';
import { answer, recordCodes, requestId, statsSource } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import { fullRecord, logQuery, recordPath } from '#libs/record/contract';
import * as recorded from '#libs/record/examples';
import {
  exportQuery,
  feed,
  feedQuery,
  importsPage,
  organizationExportQuery,
  orgStats,
  orgStatsQuery,
  recordsPage,
  recordsQuery,
} from './contract.ts';
import * as examples from './examples.ts';
import { imported, importQuery } from './import/contract.ts';

const shown = { method: 'get', scope: ['read'], limits: 'reads', tag: 'Read' } as const;
const ofImports = { scope: ['import'], tag: 'Import' } as const;
const domain = '/v1/consent/:domainId';

const exported = {
  ...shown,
  answers: {
    200: {
      description: 'Records, oldest first; in NDJSON the last line is `{"end":true,"count":N}`',
      headers: z.object({
        'X-Request-Id': requestId,
        'Content-Disposition': z.string().meta({ description: 'an attachment, with a name' }),
      }),
      content: {
        'application/x-ndjson': { schema: z.string(), example: examples.exportedText },
        'text/csv': { schema: z.string(), example: examples.exportedTable },
      },
    },
  },
  description:
    'The file is streamed, without a limit on rows. If it was cut off, continue with `after`. An organization has one export at a time.',
} as const;

export const logRoutes = {
  getOrganizationStats: {
    ...shown,
    path: '/v1/consent/org-stats',
    query: orgStatsQuery,
    answers: {
      200: answer("The organization's statistics", orgStats, examples.orgStats, {
        'X-Stats-Source': statsSource,
        ETag: z.string().optional().meta({ description: 'send it as `If-None-Match` to ask whether anything changed' }),
      }),
      304: { description: 'No total and no record has changed since the answer with this `ETag`' },
    },
    refusals: [],
    summary: 'Counters of the last 30 days and raw records of the last 7, over all domains',
    description:
      'What an overview needs: `daily` has 30 UTC days, oldest first; `records` has the newest of the last 7 days. To poll, send the `ETag` as `If-None-Match`.',
  },
  getRecords: {
    ...shown,
    path: `${domain}/records`,
    params: domainPath,
    query: recordsQuery,
    answers: { 200: answer('A page of records', recordsPage, examples.recordsPage) },
    refusals: ['domain_not_found', 'plan_feature_required'],
    summary: 'A page of the log, newest first',
    description:
      'Needs a plan with the log. To read on while records arrive, pass `nextCursor` as `cursor`; `page` jumps. At the monthly limit only the newest 10 records are shown, and `capped` is true.',
  },
  getRecord: {
    ...shown,
    path: `${domain}/records/:recordId`,
    params: recordPath,
    query: logQuery,
    answers: { 200: answer('The record', fullRecord, recorded.fullRecord) },
    refusals: recordCodes,
    summary: 'One record, with its place in the log',
    description: '`log` and `position` are its place in the sealed log, and null until it is sealed.',
  },
  getFeed: {
    ...shown,
    tag: 'Log',
    path: `${domain}/feed`,
    params: domainPath,
    query: feedQuery,
    answers: { 200: answer('The next entries; none at the end', feed, examples.feed) },
    refusals: ['domain_not_found', 'plan_feature_required', 'not_found', 'log_restarted'],
    summary: 'The log in its own order, from a position on: records, erasures, notices',
    description:
      'To keep a copy in step, start at position 0, apply the entries in order, keep `next`, and ask again from there. Positions have no gaps and never change.',
  },
  exportDomain: {
    ...exported,
    path: `${domain}/export`,
    params: domainPath,
    query: exportQuery,
    refusals: ['domain_not_found', 'plan_feature_required'],
    summary: 'All records of a domain that match, as a file',
  },
  exportOrganization: {
    ...exported,
    path: '/v1/organization/export',
    query: organizationExportQuery,
    refusals: ['plan_feature_required'],
    summary: 'All records of the organization that match, as a file, domain by domain',
  },
  getImports: {
    ...ofImports,
    method: 'get',
    path: '/v1/organization/imports',
    limits: 'reads',
    query: listQuery,
    answers: { 200: answer('A page of imports', importsPage, examples.importsPage) },
    refusals: [],
    summary: 'The imports, newest first',
    description: 'Also those that ended early, and those of the operator; a dry run is none.',
  },
  importRecords: {
    ...ofImports,
    method: 'post',
    path: `${domain}/import`,
    limits: 'own',
    hasNoDeadline: true,
    params: domainPath,
    query: importQuery,
    upload: {
      required: true,
      description: 'at most 250,000 rows and 256 MiB, as NDJSON or CSV',
      content: {
        'application/x-ndjson': { schema: z.string(), example: examples.importedText },
        'text/csv': { schema: z.string(), example: examples.importedTable },
      },
    },
    answers: { 200: answer('Every row was read; those that are `queued` are safe', imported, examples.imported) },
    refusals: ['domain_not_found', 'domain_archived', 'payload_too_large', 'unsupported_media_type'],
    summary: 'Import records from elsewhere, or from an export; sent again it adds nothing',
    description:
      'Each row is checked by itself: the first 1,000 that are rejected are listed, all others are imported. Try a file with `dryRun=true` first. An organization has at most four imports at a time in an API process.',
  },
} satisfies Routes;
