/** What visitors allow now, for a site's own servers. */
import { answer } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
import { domainPath } from '#libs/base/terms/parameters';
import { currentBody, currentOfMany, currentOfOne, currentPath } from './contract.ts';
import * as examples from './examples.ts';

const shared = { scope: ['current'], limits: 'current', refusals: ['domain_not_found'], tag: 'Current' } as const;
const path = '/v1/consent/:domainId/current';

export const currentRoutes = {
  lookUpCurrent: {
    ...shared,
    method: 'post',
    path,
    params: domainPath,
    body: { schema: currentBody, example: examples.currentBody },
    answers: {
      200: answer('What each visitor allows, in the order of the ids', currentOfMany, examples.currentOfMany),
    },
    summary: 'Get what visitors allow now',
    description:
      'For servers that are about to measure or share something: the newest decision of each visitor, and whether it ' +
      'is still valid. The ids are in the body, so that they appear in no access log on the way.',
  },
  getCurrent: {
    ...shared,
    method: 'get',
    path: `${path}/:visitorId`,
    params: currentPath,
    answers: { 200: answer('What the visitor allows', currentOfOne, examples.currentOfOne) },
    summary: 'Get what one visitor allows now',
    description: 'The same for one visitor, with the id in the path.',
  },
} satisfies Routes;
