/** The log: the overview, pages, one record, the feed, exports, imports. */
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
        'Content-Disposition': z.string().meta({ description: 'an attachment with a file name' }),
      }),
      content: {
        'application/x-ndjson': { schema: z.string(), example: examples.exportedText },
        'text/csv': { schema: z.string(), example: examples.exportedTable },
      },
    },
  },
  description:
    'The file is streamed, and has no limit on rows. If it was cut off, continue with `after`. An organization can ' +
    'have one export at a time in each API process.',
} as const;

export const logRoutes = {
  getOrganizationStats: {
    ...shown,
    path: '/v1/consent/org-stats',
    query: orgStatsQuery,
    answers: {
      200: answer("The organization's statistics", orgStats, examples.orgStats, {
        'X-Stats-Source': statsSource,
        ETag: z.string().optional().meta({ description: 'send it as `If-None-Match` to check for changes' }),
      }),
      304: { description: 'No total and no record has changed since the response with this `ETag`' },
    },
    refusals: [],
    summary: 'Get 30 days of statistics and the records of the last 7 days, over all domains',
    description:
      'For an overview. `daily` has 30 UTC days, oldest first; `records` has the records of the last 7 days, newest ' +
      'first. To poll, send the `ETag` as `If-None-Match`.',
  },
  getRecords: {
    ...shown,
    path: `${domain}/records`,
    params: domainPath,
    query: recordsQuery,
    answers: { 200: answer('A page of records', recordsPage, examples.recordsPage) },
    refusals: ['domain_not_found', 'plan_feature_required'],
    summary: 'List the records of a domain, newest first',
    description:
      'Needs a plan that includes the log. To read on while records arrive, pass `nextCursor` as `cursor`; to jump ' +
      'to a page, use `page`. Once the monthly limit is reached, only the newest 10 records are shown, and `capped` ' +
      'is true.',
  },
  getRecord: {
    ...shown,
    path: `${domain}/records/:recordId`,
    params: recordPath,
    query: logQuery,
    answers: { 200: answer('The record', fullRecord, recorded.fullRecord) },
    refusals: recordCodes,
    summary: 'Get a record',
    description: '`log` and `position` are its place in the sealed log; both are null until it is sealed.',
  },
  getFeed: {
    ...shown,
    tag: 'Log',
    path: `${domain}/feed`,
    params: domainPath,
    query: feedQuery,
    answers: { 200: answer('The next entries, or none at the end of the log', feed, examples.feed) },
    refusals: ['domain_not_found', 'plan_feature_required', 'not_found', 'log_restarted'],
    summary: 'Read the sealed log in its own order, from a position on',
    description:
      'The entries are records, erasures and notices. To keep a copy in sync, start at position 0, apply the ' +
      'entries in order, store `next`, and continue from there. Positions have no gaps and never change.',
  },
  exportDomain: {
    ...exported,
    path: `${domain}/export`,
    params: domainPath,
    query: exportQuery,
    refusals: ['domain_not_found', 'plan_feature_required'],
    summary: 'Export all matching records of a domain as a file',
  },
  exportOrganization: {
    ...exported,
    path: '/v1/organization/export',
    query: organizationExportQuery,
    refusals: ['plan_feature_required'],
    summary: 'Export all matching records of the organization as a file, domain by domain',
  },
  getImports: {
    ...ofImports,
    method: 'get',
    path: '/v1/organization/imports',
    limits: 'reads',
    query: listQuery,
    answers: { 200: answer('A page of imports', importsPage, examples.importsPage) },
    refusals: [],
    summary: 'List imports, newest first',
    description: "The list includes imports that ended early and the operator's, but no dry runs.",
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
      description: 'NDJSON or CSV, at most 250,000 rows and 256 MiB',
      content: {
        'application/x-ndjson': { schema: z.string(), example: examples.importedText },
        'text/csv': { schema: z.string(), example: examples.importedTable },
      },
    },
    answers: { 200: answer('All rows have been read, and every queued row is safe', imported, examples.imported) },
    refusals: ['domain_not_found', 'domain_archived', 'payload_too_large', 'unsupported_media_type'],
    summary: 'Import records from another service or from an export',
    description:
      'Each row is checked separately: rejected rows do not stop the others, and the first 1,000 of them are ' +
      'listed. Sending the same file again adds nothing. Try a file with `dryRun=true` first. An organization can ' +
      'have at most four imports at a time in each API process.',
  },
} satisfies Routes;
