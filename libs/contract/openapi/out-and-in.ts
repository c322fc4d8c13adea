/** Feed, exports, imports. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { domainPath, exportQuery, feedQuery, importQuery, organizationExportQuery } from '../queries.ts';
import * as responses from '../responses.ts';
import * as examples from './examples/log.ts';
import { answer, read, refusals, requestId, scopedCodes } from './parts.ts';

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
        200: answer('The next entries; none at the end', responses.feed, examples.feed),
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
        200: answer('Every row was read; those that are `queued` are safe', responses.imported, examples.imported),
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
