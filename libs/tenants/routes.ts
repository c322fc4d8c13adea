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
    summary: 'The domains, newest first, with those that are archived',
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
    summary: 'Make a domain',
    description: 'The id is generated. Only pages of `origins` may record; without any, all pages may.',
  },
  getDomain: {
    ...shown,
    method: 'get',
    path: domain,
    params: domainPath,
    answers: { 200: answer('The domain', shownDomain, examples.shownDomain, etag) },
    refusals: ['domain_not_found'],
    summary: 'A domain, with the origins that it refused',
    description: '`refusedOrigins` shows which pages tried to record although their origin is not on the list.',
  },
  changeDomain: {
    ...change,
    method: 'patch',
    path: domain,
    params: domainPath,
    headers: ifMatch,
    body: { schema: domainChange, example: examples.domainChange },
    answers: { 200: answer('The domain as it is now', managedDomain, examples.changedDomain, etag) },
    refusals: ['domain_not_found', 'changed_meanwhile'],
    summary: 'Change or restore a domain',
    description:
      'Fields that are left out stay as they are. With `archivedAt: null` an archived domain is restored. Changes are in force within a second.',
  },
  archiveDomain: {
    ...change,
    method: 'delete',
    path: domain,
    params: domainPath,
    headers: ifMatch,
    answers: { 200: answer('The domain as it is now', managedDomain, examples.archivedDomain, etag) },
    refusals: ['domain_not_found', 'changed_meanwhile'],
    summary: 'Archive a domain: its keys are revoked, nothing more is recorded, and reads go on',
    description: 'Reads, access and erasure go on. A domain can be restored, with new keys.',
  },
  getKeys: {
    ...shown,
    method: 'get',
    path: `${domain}/keys`,
    params: domainPath,
    query: listQuery,
    answers: { 200: answer('A page of keys', keysPage, examples.keysPage) },
    refusals: ['domain_not_found'],
    summary: 'The keys of a domain, newest first, with those that are revoked',
    description:
      'Keys are shown by their prefix. `lastUsedAt` says whether a key is still in use before you revoke it.',
  },
  createKey: {
    ...change,
    method: 'post',
    path: `${domain}/keys`,
    params: domainPath,
    headers: idempotencyKey,
    answers: { 201: answer('The key, this once', madeKey, examples.madeKey, replayed) },
    refusals: ['domain_not_found', 'domain_archived', 'quota_exceeded', 'not_configured', ...onceCodes],
    summary: 'Make a key',
    description:
      'The whole key is shown only here. A domain may have several, so that keys can be changed without a gap.',
  },
  revokeKey: {
    ...revocation,
    method: 'delete',
    path: `${domain}/keys/:prefix`,
    params: keyPath,
    answers: { 200: answer('The key as it is now', key, examples.revokedKey) },
    refusals: ['domain_not_found', 'key_not_found'],
    summary: 'Revoke a key: it stops working within a second',
    description:
      "Widgets keep what is refused in the visitor's browser for 30 days, and send it with the next valid key.",
  },
  revokeToken: {
    ...revocation,
    method: 'post',
    path: '/v1/organization/tokens/revoke',
    body: { schema: revokedTokenBody, example: { jti: examples.revokedToken.jti } },
    answers: { 200: answer('The token that is refused from now on', revokedToken, examples.revokedToken) },
    refusals: ['quota_exceeded'],
    summary: 'Revoke one access token, by its `jti`: it stops working within a second',
    description: 'Other tokens of the organization go on. A token without a `jti` can only be revoked with all others.',
  },
  getActs: {
    ...shown,
    scope: ['manage', 'privacy'],
    method: 'get',
    path: '/v1/organization/acts',
    query: actsQuery,
    answers: { 200: answer('A page of administrative acts', actsPage, examples.actsPage) },
    refusals: [],
    summary: 'Who did what about the organization, newest first',
    description:
      "Changes, exports, erasures, reads of the log and of a visitor's records, by token or command line. Scope `manage` or `privacy`.",
  },
} satisfies Routes;
