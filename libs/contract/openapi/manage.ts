/** What an organization changes about itself. */
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import {
  actsPage,
  domainBody,
  domainChange,
  domainsPage,
  key,
  keysPage,
  madeKey,
  managedDomain,
  shownDomain,
} from '../manage.ts';
import { domainPath, keyPath, listQuery } from '../queries.ts';
import { answer, etag, ifMatch, jsonBody, read, refusals, scopedCodes, withBody } from './parts.ts';

const tags = ['Manage'];
const codes = [...scopedCodes, 'domain_not_found'] as const;
const domains = '/v1/organization/domains';

export const managePaths: ZodOpenApiPathsObject = {
  [domains]: {
    get: read({
      operationId: 'getDomains',
      summary: 'The domains, newest first, with those that are archived',
      tags,
      requestParams: { query: listQuery },
      responses: { 200: answer('A page of domains', domainsPage), ...refusals(...scopedCodes) },
    }),
    post: read({
      operationId: 'createDomain',
      summary: 'Make a domain',
      tags,
      ...jsonBody(domainBody),
      responses: { 201: answer('The domain', managedDomain, etag), ...refusals(...scopedCodes, ...withBody) },
    }),
  },
  [`${domains}/{domainId}`]: {
    get: read({
      operationId: 'getDomain',
      summary: 'A domain, with the origins that it refused',
      tags,
      requestParams: { path: domainPath },
      responses: { 200: answer('The domain', shownDomain, etag), ...refusals(...codes) },
    }),
    patch: read({
      operationId: 'changeDomain',
      summary: 'Change or restore a domain',
      tags,
      requestParams: { path: domainPath, header: ifMatch },
      ...jsonBody(domainChange),
      responses: {
        200: answer('The domain as it is now', managedDomain, etag),
        ...refusals(...codes, ...withBody, 'changed_meanwhile'),
      },
    }),
    delete: read({
      operationId: 'archiveDomain',
      summary: 'Archive a domain: its keys are revoked, nothing more is recorded, and reads go on',
      tags,
      requestParams: { path: domainPath, header: ifMatch },
      responses: {
        200: answer('The domain as it is now', managedDomain, etag),
        ...refusals(...codes, 'changed_meanwhile'),
      },
    }),
  },
  [`${domains}/{domainId}/keys`]: {
    get: read({
      operationId: 'getKeys',
      summary: 'The keys of a domain, newest first, with those that are revoked',
      tags,
      requestParams: { path: domainPath, query: listQuery },
      responses: { 200: answer('A page of keys', keysPage), ...refusals(...codes) },
    }),
    post: read({
      operationId: 'createKey',
      summary: 'Make a key',
      tags,
      requestParams: { path: domainPath },
      responses: { 201: answer('The key, this once', madeKey), ...refusals(...codes, 'domain_archived') },
    }),
  },
  [`${domains}/{domainId}/keys/{prefix}`]: {
    delete: read({
      operationId: 'revokeKey',
      summary: 'Revoke a key: it stops working within a second',
      tags,
      requestParams: { path: keyPath },
      responses: { 200: answer('The key as it is now', key), ...refusals(...codes, 'key_not_found') },
    }),
  },
  '/v1/organization/acts': {
    get: read({
      operationId: 'getActs',
      summary: 'Who did what about the organization, newest first',
      tags,
      requestParams: { query: listQuery },
      responses: { 200: answer('A page of administrative acts', actsPage), ...refusals(...scopedCodes) },
    }),
  },
};
