/** Access to what is stored about a visitor, and erasure. */
import { answer } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import { actsPage } from '#libs/tenants/contract';
import { actsPage as actsExample } from '#libs/tenants/examples';
import { erasure, erasureDetails, erasurePath, erasuresPage, visitor, visitorBody, visitorPath } from './contract.ts';
import * as examples from './examples.ts';

const listed = { method: 'get', scope: ['privacy'], limits: 'reads', tag: 'Privacy' } as const;
const ofVisitor = { scope: ['privacy'], limits: 'own', tag: 'Privacy' } as const;

const inBody = { method: 'post', body: { schema: visitorBody, example: examples.visitorBody } } as const;
const hidden = ' The id is in the body, so that it appears in no access log on the way.';

const access = {
  ...ofVisitor,
  answers: { 200: answer('Everything that is stored about the visitor', visitor, examples.visitor) },
  description:
    'Returns records, the newest decision of each domain, notices, proofs and bundles, on every plan. Each ' +
    'access is logged as an administrative act.',
} as const;
const erase = {
  ...ofVisitor,
  answers: {
    200: answer('The visitor is erased', erasure, examples.erased),
    202: answer(
      'A worker continues: there are more than 10,000 records, or erasing them takes longer than 3 seconds',
      erasure,
      examples.erasing,
    ),
  },
  description:
    'Personal fields are erased; decisions still count, and proofs still verify. After a 202, use its `erasureId` ' +
    'to follow the progress.',
} as const;

const ofDomain = '/v1/consent/:domainId/visitors';
const ofOrganization = '/v1/organization/visitors';
const inDomain = ['not_configured', 'domain_not_found'] as const;
const inOrganization = ['not_configured'] as const;

export const privacyRoutes = {
  lookupActs: {
    ...inBody,
    scope: ['privacy'],
    limits: 'reads',
    path: '/v1/organization/acts/lookup',
    query: listQuery,
    answers: { 200: answer('A page of administrative acts', actsPage, actsExample) },
    refusals: inOrganization,
    tag: 'Privacy',
    summary: 'List the acts about a visitor, newest first',
    description:
      "The acts show who read, exported or erased the visitor's records. They identify the visitor only by a hash.",
  },
  getDomainVisitor: {
    ...access,
    method: 'get',
    path: `${ofDomain}/:visitorId`,
    params: domainPath.extend(visitorPath.shape),
    refusals: inDomain,
    summary: 'Get everything about a visitor of a domain',
  },
  deleteDomainVisitor: {
    ...erase,
    method: 'delete',
    path: `${ofDomain}/:visitorId`,
    params: domainPath.extend(visitorPath.shape),
    refusals: inDomain,
    summary: 'Erase a visitor of a domain',
  },
  lookupDomainVisitor: {
    ...access,
    ...inBody,
    path: `${ofDomain}/lookup`,
    params: domainPath,
    refusals: inDomain,
    summary: 'Get everything about a visitor of a domain, with the id in the body',
    description: access.description + hidden,
  },
  eraseDomainVisitor: {
    ...erase,
    ...inBody,
    path: `${ofDomain}/erase`,
    params: domainPath,
    refusals: inDomain,
    summary: 'Erase a visitor of a domain, with the id in the body',
    description: erase.description + hidden,
  },
  getOrganizationVisitor: {
    ...access,
    method: 'get',
    path: `${ofOrganization}/:visitorId`,
    params: visitorPath,
    refusals: inOrganization,
    summary: 'Get everything about a visitor in all domains of the organization',
  },
  deleteOrganizationVisitor: {
    ...erase,
    method: 'delete',
    path: `${ofOrganization}/:visitorId`,
    params: visitorPath,
    refusals: inOrganization,
    summary: 'Erase a visitor in all domains of the organization',
  },
  lookupOrganizationVisitor: {
    ...access,
    ...inBody,
    path: `${ofOrganization}/lookup`,
    refusals: inOrganization,
    summary: 'Get everything about a visitor in all domains of the organization, with the id in the body',
    description: access.description + hidden,
  },
  eraseOrganizationVisitor: {
    ...erase,
    ...inBody,
    path: `${ofOrganization}/erase`,
    refusals: inOrganization,
    summary: 'Erase a visitor in all domains of the organization, with the id in the body',
    description: erase.description + hidden,
  },
  getErasures: {
    ...listed,
    path: '/v1/organization/erasures',
    query: listQuery,
    answers: { 200: answer('A page of erasures', erasuresPage, examples.erasuresPage) },
    refusals: [],
    summary: 'List erasures, newest first',
    description: 'A completed erasure no longer says which visitor it was about.',
  },
  getErasure: {
    ...listed,
    path: '/v1/organization/erasures/:erasureId',
    params: erasurePath,
    answers: { 200: answer('The erasure', erasureDetails, examples.erasureDetails) },
    refusals: ['erasure_not_found'],
    summary: 'Get the progress of an erasure, and what it erased',
    description:
      'Repeat the request until `state` is `done`. After that, nothing is left of the visitor, not even ' +
      '`visitorId`. `domains` has the erased records and the entries in the sealed logs that record their erasure, ' +
      'each of which has a proof.',
  },
} satisfies Routes;
