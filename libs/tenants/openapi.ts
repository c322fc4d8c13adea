/** What an organization changes about itself. */
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import {
  answer,
  etag,
  idempotencyKey,
  ifMatch,
  jsonBody,
  onceCodes,
  read,
  refusals,
  replayed,
  scopedCodes,
  withBody,
} from '#libs/base/http/openapi';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import {
  actsPage,
  actsQuery,
  domainBody,
  domainChange,
  domainsPage,
  key,
  keyPath,
  keysPage,
  madeKey,
  managedDomain,
  revokedToken,
  revokedTokenBody,
  shownDomain,
} from './contract.ts';
import * as examples from './examples.ts';

const tags = ['Manage'];
const codes = [...scopedCodes, 'domain_not_found'] as const;
const domains = '/v1/organization/domains';

export const managePaths: ZodOpenApiPathsObject = {
  [domains]: {
    get: read({
      operationId: 'getDomains',
      summary: 'The domains, newest first, with those that are archived',
      description: 'An archived domain has `archivedAt`.',
      tags,
      requestParams: { query: listQuery },
      responses: { 200: answer('A page of domains', domainsPage, examples.domainsPage), ...refusals(...scopedCodes) },
    }),
    post: read({
      operationId: 'createDomain',
      summary: 'Make a domain',
      description: 'The id is generated. Only pages of `origins` may record; without any, all pages may.',
      tags,
      requestParams: { header: idempotencyKey },
      ...jsonBody(domainBody, examples.domainBody),
      responses: {
        201: answer('The domain', managedDomain, examples.domain, { ...etag, ...replayed }),
        ...refusals(...scopedCodes, ...withBody, 'quota_exceeded', ...onceCodes),
      },
    }),
  },
  [`${domains}/{domainId}`]: {
    get: read({
      operationId: 'getDomain',
      summary: 'A domain, with the origins that it refused',
      description: '`refusedOrigins` shows which pages tried to record although their origin is not on the list.',
      tags,
      requestParams: { path: domainPath },
      responses: { 200: answer('The domain', shownDomain, examples.shownDomain, etag), ...refusals(...codes) },
    }),
    patch: read({
      operationId: 'changeDomain',
      summary: 'Change or restore a domain',
      description:
        'Fields that are left out stay as they are. With `archivedAt: null` an archived domain is restored. Changes are in force within a second.',
      tags,
      requestParams: { path: domainPath, header: ifMatch },
      ...jsonBody(domainChange, examples.domainChange),
      responses: {
        200: answer('The domain as it is now', managedDomain, examples.changedDomain, etag),
        ...refusals(...codes, ...withBody, 'changed_meanwhile'),
      },
    }),
    delete: read({
      operationId: 'archiveDomain',
      summary: 'Archive a domain: its keys are revoked, nothing more is recorded, and reads go on',
      description: 'Reads, access and erasure go on. A domain can be restored, with new keys.',
      tags,
      requestParams: { path: domainPath, header: ifMatch },
      responses: {
        200: answer('The domain as it is now', managedDomain, examples.archivedDomain, etag),
        ...refusals(...codes, 'changed_meanwhile'),
      },
    }),
  },
  [`${domains}/{domainId}/keys`]: {
    get: read({
      operationId: 'getKeys',
      summary: 'The keys of a domain, newest first, with those that are revoked',
      description:
        'Keys are shown by their prefix. `lastUsedAt` says whether a key is still in use before you revoke it.',
      tags,
      requestParams: { path: domainPath, query: listQuery },
      responses: { 200: answer('A page of keys', keysPage, examples.keysPage), ...refusals(...codes) },
    }),
    post: read({
      operationId: 'createKey',
      summary: 'Make a key',
      description:
        'The whole key is shown only here. A domain may have several, so that keys can be changed without a gap.',
      tags,
      requestParams: { path: domainPath, header: idempotencyKey },
      responses: {
        201: answer('The key, this once', madeKey, examples.madeKey, replayed),
        ...refusals(...codes, 'domain_archived', 'quota_exceeded', 'not_configured', ...onceCodes),
      },
    }),
  },
  [`${domains}/{domainId}/keys/{prefix}`]: {
    delete: read({
      operationId: 'revokeKey',
      summary: 'Revoke a key: it stops working within a second',
      description:
        "Widgets keep what is refused in the visitor's browser for 30 days, and send it with the next valid key.",
      tags,
      requestParams: { path: keyPath },
      responses: {
        200: answer('The key as it is now', key, examples.revokedKey),
        ...refusals(...codes, 'key_not_found'),
      },
    }),
  },
  '/v1/organization/tokens/revoke': {
    post: read({
      operationId: 'revokeToken',
      summary: 'Revoke one access token, by its `jti`: it stops working within a second',
      description:
        'Other tokens of the organization go on. A token without a `jti` can only be revoked with all others.',
      tags,
      ...jsonBody(revokedTokenBody, { jti: examples.revokedToken.jti }),
      responses: {
        200: answer('The token that is refused from now on', revokedToken, examples.revokedToken),
        ...refusals(...scopedCodes, ...withBody, 'quota_exceeded'),
      },
    }),
  },
  '/v1/organization/acts': {
    get: read({
      operationId: 'getActs',
      summary: 'Who did what about the organization, newest first',
      description:
        "Changes, exports, erasures, reads of the log and of a visitor's records, by token or command line. Scope `manage` or `privacy`.",
      tags,
      requestParams: { query: actsQuery },
      responses: {
        200: answer('A page of administrative acts', actsPage, examples.actsPage),
        ...refusals(...scopedCodes),
      },
    }),
  },
};
