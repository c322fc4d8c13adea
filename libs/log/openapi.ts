/** The log: what an overview shows, pages, one record, feed, exports, imports. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { answer, read, recordCodes, refusals, requestId, scopedCodes, statsSource } from '#libs/base/http/openapi';
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

export const overviewPaths: ZodOpenApiPathsObject = {
  '/v1/consent/org-stats': {
    get: read({
      operationId: 'getOrganizationStats',
      summary: 'Counters of the last 30 days and raw records of the last 7, over all domains',
      description:
        'What an overview needs: `daily` has 30 UTC days, oldest first; `records` has the newest of the last 7 days. To poll, send the `ETag` as `If-None-Match`.',
      tags: ['Read'],
      requestParams: { query: orgStatsQuery },
      responses: {
        200: answer("The organization's statistics", orgStats, examples.orgStats, {
          'X-Stats-Source': statsSource,
          ETag: z
            .string()
            .optional()
            .meta({ description: 'send it as `If-None-Match` to ask whether anything changed' }),
        }),
        304: { description: 'No total and no record has changed since the answer with this `ETag`' },
        ...refusals(...scopedCodes),
      },
    }),
  },
};

export const recordsPaths: ZodOpenApiPathsObject = {
  '/v1/consent/{domainId}/records': {
    get: read({
      operationId: 'getRecords',
      summary: 'A page of the log, newest first',
      description:
        'Needs a plan with the log. To read on while records arrive, pass `nextCursor` as `cursor`; `page` jumps. At the monthly limit only the newest 10 records are shown, and `capped` is true.',
      tags: ['Read'],
      requestParams: { path: domainPath, query: recordsQuery },
      responses: {
        200: answer('A page of records', recordsPage, examples.recordsPage),
        ...refusals(...scopedCodes, 'domain_not_found', 'plan_feature_required'),
      },
    }),
  },
  '/v1/consent/{domainId}/records/{recordId}': {
    get: read({
      operationId: 'getRecord',
      summary: 'One record, with its place in the log',
      description: '`log` and `position` are its place in the sealed log, and null until it is sealed.',
      tags: ['Read'],
      requestParams: { path: recordPath, query: logQuery },
      responses: {
        200: answer('The record', fullRecord, recorded.fullRecord),
        ...refusals(...scopedCodes, ...recordCodes),
      },
    }),
  },
};

const exported = {
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
};

export const outAndInPaths: ZodOpenApiPathsObject = {
  '/v1/consent/{domainId}/feed': {
    get: read({
      operationId: 'getFeed',
      summary: 'The log in its own order, from a position on: records, erasures, notices',
      description:
        'To keep a copy in step, start at position 0, apply the entries in order, keep `next`, and ask again from there. Positions have no gaps and never change.',
      tags: ['Log'],
      requestParams: { path: domainPath, query: feedQuery },
      responses: {
        200: answer('The next entries; none at the end', feed, examples.feed),
        ...refusals(...scopedCodes, 'domain_not_found', 'plan_feature_required', 'not_found', 'log_restarted'),
      },
    }),
  },
  '/v1/consent/{domainId}/export': {
    get: read({
      operationId: 'exportDomain',
      summary: 'All records of a domain that match, as a file',
      description:
        'The file is streamed, without a limit on rows. If it was cut off, continue with `after`. An organization has one export at a time.',
      tags: ['Read'],
      requestParams: { path: domainPath, query: exportQuery },
      responses: {
        ...exported,
        ...refusals(...scopedCodes, 'domain_not_found', 'plan_feature_required'),
      },
    }),
  },
  '/v1/organization/export': {
    get: read({
      operationId: 'exportOrganization',
      summary: 'All records of the organization that match, as a file, domain by domain',
      description:
        'The file is streamed, without a limit on rows. If it was cut off, continue with `after`. An organization has one export at a time.',
      tags: ['Read'],
      requestParams: { query: organizationExportQuery },
      responses: {
        ...exported,
        ...refusals(...scopedCodes, 'plan_feature_required'),
      },
    }),
  },
  '/v1/organization/imports': {
    get: read({
      operationId: 'getImports',
      summary: 'The imports, newest first',
      description: 'Also those that ended early, and those of the operator; a dry run is none.',
      tags: ['Import'],
      requestParams: { query: listQuery },
      responses: { 200: answer('A page of imports', importsPage, examples.importsPage), ...refusals(...scopedCodes) },
    }),
  },
  '/v1/consent/{domainId}/import': {
    post: read({
      operationId: 'importRecords',
      summary: 'Import records from elsewhere, or from an export; sent again it adds nothing',
      description:
        'Each row is checked by itself: the first 1,000 that are rejected are listed, all others are imported. Try a file with `dryRun=true` first. An organization has at most four imports at a time in an API process.',
      tags: ['Import'],
      requestParams: { path: domainPath, query: importQuery },
      requestBody: {
        required: true,
        description: 'at most 250,000 rows and 256 MiB, as NDJSON or CSV',
        content: {
          'application/x-ndjson': { schema: z.string(), example: examples.importedText },
          'text/csv': { schema: z.string(), example: examples.importedTable },
        },
      },
      responses: {
        200: answer('Every row was read; those that are `queued` are safe', imported, examples.imported),
        ...refusals(
          ...scopedCodes,
          'domain_not_found',
          'domain_archived',
          'payload_too_large',
          'unsupported_media_type',
        ),
      },
    }),
  },
};
