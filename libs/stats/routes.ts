/** Displays, statistics, and the organization with its month's usage. */
import { z } from 'zod';
import { answer, handling, preferenceApplied, requestId, statsSource } from '#libs/base/http/openapi';
import type { KeyRoutes, Routes } from '#libs/base/http/routes';
import { domainPath } from '#libs/base/terms/parameters';
import {
  displayBody,
  domainStats,
  organization,
  organizationStats,
  organizationStatsQuery,
  statsQuery,
} from './contract.ts';
import * as examples from './examples.ts';

export const displayRoutes = {
  countDisplay: {
    method: 'post',
    path: '/v1/consent/:domainId/displays',
    auth: ['apiKey'],
    params: domainPath,
    headers: handling,
    upload: {
      required: false,
      content: { 'application/json': { schema: displayBody, example: examples.displayBody } },
    },
    answers: {
      204: {
        description: "The display was counted, unless it was a crawler's",
        headers: z.object({ 'X-Request-Id': requestId, ...preferenceApplied }),
      },
    },
    refusals: [
      'invalid_json',
      'invalid_request',
      'invalid_api_key',
      'origin_not_allowed',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limited',
    ],
    tag: 'Record',
    summary: 'Report that a banner was shown',
    description:
      'Send this each time a banner appears. With a body, displays are also counted by banner version, variant and ' +
      'language; it is optional. A value that breaks its rule is corrected or left out as in a record, or refused with ' +
      '`Prefer: handling=strict`. Nothing about the visitor is stored.',
  },
} satisfies KeyRoutes;

const statsHeaders = {
  'X-Stats-Source': statsSource,
  ETag: z.string().optional().meta({ description: 'with `by`: send it as `If-None-Match` to check for changes' }),
};
const unmovedStats = { description: 'With `by`: no count has changed since the response with this `ETag`' };
const counted = { method: 'get', scope: ['read'], limits: 'statistics', tag: 'Read' } as const;

export const statsRoutes = {
  getDomainStats: {
    ...counted,
    path: '/v1/consent/:domainId/stats',
    params: domainPath,
    query: statsQuery,
    answers: {
      200: answer("The domain's statistics", domainStats, examples.domainStats, statsHeaders),
      304: unmovedStats,
    },
    refusals: ['domain_not_found'],
    summary: 'Get the statistics of a domain over a range of days',
    description:
      'Both days are UTC and inclusive. `interval` adds a series of days or months; `by` groups the decisions, for example by country or banner version.',
  },
  getStats: {
    ...counted,
    path: '/v1/organization/stats',
    query: organizationStatsQuery,
    answers: {
      200: answer("The organization's statistics", organizationStats, examples.organizationStats, statsHeaders),
      304: unmovedStats,
    },
    refusals: [],
    summary: 'Get the statistics of the organization over a range of days',
    description:
      'The same as for a domain, but over all domains of the organization. `by=domain` has a group for each domain, ' +
      'also for those without decisions in these days, with the time of its last decision.',
  },
  getOrganization: {
    method: 'get',
    path: '/v1/organization',
    scope: 'any',
    limits: 'reads',
    answers: {
      200: answer('The organization', organization, examples.organization, { 'X-Stats-Source': statsSource }),
    },
    refusals: [],
    tag: 'Read',
    summary: 'Get the organization, with its plan, usage and domains',
    description:
      'The access token needs at least one of the scopes, whichever it is. `usage` counts the records of the ' +
      'current UTC month, which the plan may limit.',
  },
} satisfies Routes;
