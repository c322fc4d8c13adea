/** Access to what is stored about a visitor, and erasure. */
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { answer, jsonBody, read, refusals, scopedCodes, withBody } from '#libs/base/http/openapi';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import { actsPage } from '#libs/tenants/contract';
import { actsPage as actsExample } from '#libs/tenants/examples';
import { erasure, erasurePath, erasuresPage, visitor, visitorBody, visitorPath } from './contract.ts';
import * as examples from './examples.ts';

/** What can be asked about a visitor, on a domain or on all of the organization's. */
function visitorPaths(prefix: string, path?: typeof domainPath) {
  const ofWhat = path ? 'Domain' : 'Organization';
  const where = path ? 'a domain' : 'all domains of the organization';
  const codes = [...scopedCodes, 'not_configured' as const, ...(path ? (['domain_not_found'] as const) : [])];
  const bodyCodes = [...codes, 'invalid_json', 'payload_too_large', 'unsupported_media_type'] as const;
  const inPath = { requestParams: { path: path ? path.extend(visitorPath.shape) : visitorPath } };
  const inBody = {
    ...(path && { requestParams: { path } }),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: visitorBody, example: examples.visitorBody } },
    },
  };
  const found = { 200: answer('All that is stored about the visitor', visitor, examples.visitor) };
  const erased = {
    200: answer('The visitor is erased', erasure, examples.erased),
    202: answer('There are more than 10,000 records, and the worker goes on', erasure, examples.erasing),
  };
  const tags = ['Privacy'];
  const access = `All that is stored about a visitor of ${where}`;
  const erase = `Erase a visitor of ${where}`;
  const told =
    'Records, decisions in force, notices, proofs and bundles, whatever the plan. Each access is an administrative act.';
  const kept =
    'Personal fields are erased; decisions still count, and proofs still verify. A 202 has the `erasureId` to ask about.';
  const hidden = ' With the id in the body it stays out of the access logs of proxies.';
  return {
    [`${prefix}/visitors/{visitorId}`]: {
      get: read({
        operationId: `get${ofWhat}Visitor`,
        summary: access,
        description: told,
        tags,
        ...inPath,
        responses: { ...found, ...refusals(...codes) },
      }),
      delete: read({
        operationId: `delete${ofWhat}Visitor`,
        summary: erase,
        description: kept,
        tags,
        ...inPath,
        responses: { ...erased, ...refusals(...codes) },
      }),
    },
    [`${prefix}/visitors/lookup`]: {
      post: read({
        operationId: `lookup${ofWhat}Visitor`,
        summary: `${access}, with the id in the body`,
        description: told + hidden,
        tags,
        ...inBody,
        responses: { ...found, ...refusals(...bodyCodes) },
      }),
    },
    [`${prefix}/visitors/erase`]: {
      post: read({
        operationId: `erase${ofWhat}Visitor`,
        summary: `${erase}, with the id in the body`,
        description: kept + hidden,
        tags,
        ...inBody,
        responses: { ...erased, ...refusals(...bodyCodes) },
      }),
    },
  };
}

export const privacyPaths: ZodOpenApiPathsObject = {
  '/v1/organization/acts/lookup': {
    post: read({
      operationId: 'lookupActs',
      summary: 'The acts about a visitor, newest first',
      description: "Who read, exported or erased the visitor's records: the visitor is named by a hash alone.",
      tags: ['Privacy'],
      requestParams: { query: listQuery },
      ...jsonBody(visitorBody, examples.visitorBody),
      responses: {
        200: answer('A page of administrative acts', actsPage, actsExample),
        ...refusals(...scopedCodes, ...withBody),
      },
    }),
  },
  ...visitorPaths('/v1/consent/{domainId}', domainPath),
  ...visitorPaths('/v1/organization'),
  '/v1/organization/erasures': {
    get: read({
      operationId: 'getErasures',
      summary: 'The erasures, newest first',
      description: 'Of one that is done nothing says whom it was about.',
      tags: ['Privacy'],
      requestParams: { query: listQuery },
      responses: {
        200: answer('A page of erasures', erasuresPage, examples.erasuresPage),
        ...refusals(...scopedCodes),
      },
    }),
  },
  '/v1/organization/erasures/{erasureId}': {
    get: read({
      operationId: 'getErasure',
      summary: 'How far an erasure is',
      description:
        'Ask again until `state` is `done`. After that nothing is left of the visitor, not even `visitorId`.',
      tags: ['Privacy'],
      requestParams: { path: erasurePath },
      responses: {
        200: answer('The erasure', erasure, examples.erasedBefore),
        ...refusals(...scopedCodes, 'erasure_not_found'),
      },
    }),
  },
};
