/** What an organization changes about itself. */
import { answer, etag, idempotencyKey, ifMatch, onceCodes, replayed } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
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

const shown = { tag: 'Manage', scope: ['manage'], limits: 'reads' } as const;
const change = { tag: 'Manage', scope: ['manage'], limits: 'changes', inForce: true } as const;
const revocation = { ...change, limits: 'revocations' } as const;

const domains = '/v1/organization/domains';
const domain = `${domains}/:domainId` as const;

export const manageRoutes = {
  getDomains: {
    ...shown,
    method: 'get',
    path: domains,
    query: listQuery,
    answers: { 200: answer('A page of domains', domainsPage, examples.domainsPage) },
    refusals: [],
    summary: 'List domains, newest first, including archived ones',
    description: 'An archived domain has `archivedAt`.',
  },
  createDomain: {
    ...change,
    method: 'post',
    path: domains,
    headers: idempotencyKey,
    body: { schema: domainBody, example: examples.domainBody },
    answers: { 201: answer('The domain', managedDomain, examples.domain, { ...etag, ...replayed }) },
    refusals: ['quota_exceeded', ...onceCodes],
    summary: 'Create a domain',
    description:
      'The service generates the id. Only pages from `origins` may record; if there are none, all pages may.',
  },
  getDomain: {
    ...shown,
    method: 'get',
    path: domain,
    params: domainPath,
    answers: { 200: answer('The domain', shownDomain, examples.shownDomain, etag) },
    refusals: ['domain_not_found'],
    summary: 'Get a domain, with refused origins and ignored fields',
    description:
      '`refusedOrigins` has the origins that tried to record but are not on the list, and `ignoredFields` the ' +
      'fields that were left out of records and displays.',
  },
  changeDomain: {
    ...change,
    method: 'patch',
    path: domain,
    params: domainPath,
    headers: ifMatch,
    body: { schema: domainChange, example: examples.domainChange },
    answers: { 200: answer('The domain as it is now', managedDomain, examples.changedDomain, etag) },
    refusals: ['domain_not_found', 'published', 'changed_meanwhile'],
    summary: 'Change or restore a domain',
    description:
      'Fields that you leave out stay as they are. `archivedAt: null` restores an archived domain. A change takes ' +
      'effect within a second. Once a banner is published, publishing sets `validMonths` and `policyVersion`.',
  },
  archiveDomain: {
    ...change,
    method: 'delete',
    path: domain,
    params: domainPath,
    headers: ifMatch,
    answers: { 200: answer('The domain as it is now', managedDomain, examples.archivedDomain, etag) },
    refusals: ['domain_not_found', 'changed_meanwhile'],
    summary: 'Archive a domain',
    description:
      'Its keys are revoked and recording ends; reads, access and erasure go on. An archived domain can be ' +
      'restored, but needs new keys; only its published banner gets one by itself.',
  },
  getKeys: {
    ...shown,
    method: 'get',
    path: `${domain}/keys`,
    params: domainPath,
    query: listQuery,
    answers: { 200: answer('A page of keys', keysPage, examples.keysPage) },
    refusals: ['domain_not_found'],
    summary: 'List the keys of a domain, newest first, including revoked ones',
    description:
      'Only the prefix of each key is shown. `isOfPage` marks the key of the published banner. Before you revoke a key, check `lastUsedAt` to see whether it is still ' +
      'in use.',
  },
  createKey: {
    ...change,
    method: 'post',
    path: `${domain}/keys`,
    params: domainPath,
    headers: idempotencyKey,
    answers: { 201: answer('The key, shown only this once', madeKey, examples.madeKey, replayed) },
    refusals: ['domain_not_found', 'domain_archived', 'quota_exceeded', 'not_configured', ...onceCodes],
    summary: 'Create a key',
    description:
      'The complete key is shown only here. A domain may have several active keys, so you can rotate them without a ' +
      'gap.',
  },
  revokeKey: {
    ...revocation,
    method: 'delete',
    path: `${domain}/keys/:prefix`,
    params: keyPath,
    answers: { 200: answer('The key as it is now', key, examples.revokedKey) },
    refusals: ['domain_not_found', 'key_not_found'],
    summary: 'Revoke a key',
    description:
      'The key stops working within a second. If the published banner contains it, a new key replaces it there at ' +
      "once. Widgets keep refused decisions in the visitor's browser for 30 days, " +
      'and send them with the next valid key.',
  },
  revokeToken: {
    ...revocation,
    method: 'post',
    path: '/v1/organization/tokens/revoke',
    body: { schema: revokedTokenBody, example: { jti: examples.revokedToken.jti } },
    answers: { 200: answer('The token, which is refused from now on', revokedToken, examples.revokedToken) },
    refusals: ['quota_exceeded'],
    summary: 'Revoke an access token by its `jti`',
    description:
      "The token stops working within a second. The organization's other tokens stay valid. A token without a `jti` " +
      'can only be revoked together with all others.',
  },
  getActs: {
    ...shown,
    scope: ['manage', 'privacy'],
    method: 'get',
    path: '/v1/organization/acts',
    query: actsQuery,
    answers: { 200: answer('A page of administrative acts', actsPage, examples.actsPage) },
    refusals: [],
    summary: 'List administrative acts, newest first',
    description:
      "The acts show who did what: changes, exports, erasures, and reads of the log and of a visitor's records, " +
      'with a token or on the command line. Needs the scope `manage` or `privacy`.',
  },
} satisfies Routes;
