/** Statistics, pages of the log, the organization. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { domainPath, logQuery, orgStatsQuery, recordPath, recordsQuery, statsQuery } from '../queries.ts';
import * as responses from '../responses.ts';
import * as statistics from '../statistics.ts';
import * as examples from './examples/read.ts';
import { answer, bearerCodes, read, recordCodes, refusals, scopedCodes, statsSource } from './parts.ts';

const statsHeaders = {
  'X-Stats-Source': statsSource,
  ETag: z
    .string()
    .optional()
    .meta({ description: 'with `by`: send it as `If-None-Match` to ask whether a count moved' }),
};
const unmovedStats = { description: 'With `by`: no count has moved since the answer with this `ETag`' };

export const readPaths: ZodOpenApiPathsObject = {
  '/v1/consent/org-stats': {
    get: read({
      operationId: 'getOrganizationStats',
      summary: 'Counters of the last 30 days and raw records of the last 7, over all domains',
      description:
        'What an overview needs: `daily` has 30 UTC days, oldest first; `records` has the newest of the last 7 days. To poll, send the `ETag` as `If-None-Match`.',
      tags: ['Read'],
      requestParams: { query: orgStatsQuery },
      responses: {
        200: answer("The organization's statistics", statistics.orgStats, examples.orgStats, {
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
  '/v1/consent/{domainId}/stats': {
    get: read({
      operationId: 'getDomainStats',
      summary: 'Counters of a domain over a range of UTC days',
      description:
        'Both days are UTC and inclusive. `interval` adds a series of days or months; `by` groups the decisions, for example by country or banner version.',
      tags: ['Read'],
      requestParams: { path: domainPath, query: statsQuery },
      responses: {
        200: answer("The domain's statistics", statistics.domainStats, examples.domainStats, statsHeaders),
        304: unmovedStats,
        ...refusals(...scopedCodes, 'domain_not_found'),
      },
    }),
  },
  '/v1/organization/stats': {
    get: read({
      operationId: 'getStats',
      summary: 'Counters of the organization over a range of UTC days',
      description: 'As for a domain, but summed over all domains of the organization.',
      tags: ['Read'],
      requestParams: { query: statsQuery },
      responses: {
        200: answer(
          "The organization's statistics",
          statistics.organizationStats,
          examples.organizationStats,
          statsHeaders,
        ),
        304: unmovedStats,
        ...refusals(...scopedCodes),
      },
    }),
  },
  '/v1/consent/{domainId}/records': {
    get: read({
      operationId: 'getRecords',
      summary: 'A page of the log, newest first',
      description:
        'Needs a plan with the log. To read on while records arrive, pass `nextCursor` as `cursor`; `page` jumps. At the monthly limit only the newest 10 records are shown, and `capped` is true.',
      tags: ['Read'],
      requestParams: { path: domainPath, query: recordsQuery },
      responses: {
        200: answer('A page of records', responses.recordsPage, examples.recordsPage),
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
        200: answer('The record', responses.fullRecord, examples.fullRecord),
        ...refusals(...scopedCodes, ...recordCodes),
      },
    }),
  },
  '/v1/organization': {
    get: read({
      operationId: 'getOrganization',
      summary: 'The organization, its plan, usage and domains',
      description:
        'Takes an access token of any scope. `usage` counts the records of the current UTC month, which the plan may limit.',
      tags: ['Read'],
      responses: {
        200: answer('The organization', responses.organization, examples.organization, {
          'X-Stats-Source': statsSource,
        }),
        ...refusals(...bearerCodes),
      },
    }),
  },
};
