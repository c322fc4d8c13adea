/** A domain's banner: its draft, what is published, and checks of the site. */
import { answer, etag, idempotencyKey, ifMatch, onceCodes, replayed } from '#libs/base/http/openapi';
import type { KeyRoutes, Routes } from '#libs/base/http/routes';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import {
  bannerVersion,
  checkBody,
  checkPath,
  checksPage,
  checkTicket,
  hostsAnswer,
  hostsBody,
  largestCheck,
  largestDraft,
  listedCheck,
  publishBody,
  settings,
  shownCheck,
  shownVersion,
  versionPath,
  versionsPage,
} from './contract.ts';
import * as examples from './examples.ts';

const shown = {
  method: 'get',
  scope: ['read', 'publish', 'manage'],
  limits: 'reads',
  tag: 'Banner',
  params: domainPath,
} as const;
const change = { scope: ['publish', 'manage'], limits: 'changes', tag: 'Banner', params: domainPath } as const;

const banner = '/v1/organization/domains/:domainId/banner';
const versions = `${banner}/versions` as const;
const checks = '/v1/organization/domains/:domainId/checks';

export const bannerRoutes = {
  getBanner: {
    ...shown,
    path: banner,
    answers: { 200: answer('The draft', settings, examples.settings, etag) },
    refusals: ['domain_not_found'],
    summary: "Get the draft of a domain's banner",
    description: 'The draft is `{}` until it is first saved.',
  },
  saveBanner: {
    ...change,
    method: 'put',
    path: banner,
    headers: ifMatch,
    body: { schema: settings, example: examples.settings, bytes: largestDraft },
    answers: { 200: answer('The draft as it is now', settings, examples.settings, etag) },
    refusals: ['domain_not_found', 'changed_meanwhile'],
    summary: "Save the draft of a domain's banner",
    description:
      'At most 64 KiB. Pages do not change until you publish. A setting that the widget would leave out is refused, ' +
      'and `errors` says why.',
  },
  publishBanner: {
    ...change,
    method: 'post',
    path: `${banner}/publish`,
    inForce: true,
    headers: idempotencyKey,
    body: { schema: publishBody, example: examples.publishBody },
    answers: {
      200: answer('Nothing has changed: the version that is live', bannerVersion, examples.version, replayed),
      201: answer('The new version, which is live', bannerVersion, examples.version, replayed),
    },
    refusals: ['domain_not_found', 'domain_archived', 'version_not_found', 'quota_exceeded', ...onceCodes],
    summary: 'Publish the draft, or an earlier version again',
    description:
      'Takes effect in `/w/{domainId}.js` within a second; browsers may show the previous version for five minutes, ' +
      'and on the first page of a visit for up to a day. A domain can have 1,000 versions. The first publication ' +
      "creates the page's API key.",
  },
  getBannerVersions: {
    ...shown,
    path: versions,
    query: listQuery,
    answers: { 200: answer('A page of versions', versionsPage, examples.versionsPage) },
    refusals: ['domain_not_found'],
    summary: 'List the published versions, newest first',
    description: 'The newest version is the live one. Each was live until the next one was published.',
  },
  getBannerVersion: {
    ...shown,
    path: `${versions}/:version`,
    params: versionPath,
    answers: { 200: answer('The version', shownVersion, examples.shownVersion) },
    refusals: ['domain_not_found', 'version_not_found'],
    summary: 'Get a published version, with its settings',
    description: 'A version never changes.',
  },
  createCheckTicket: {
    ...change,
    method: 'post',
    path: '/v1/organization/domains/:domainId/check-ticket',
    answers: { 201: answer('The ticket', checkTicket, examples.checkTicket) },
    refusals: ['domain_not_found', 'domain_archived', 'not_configured'],
    summary: 'Get a ticket to check a site',
    description:
      'Open the site with `#assent-check=` and the ticket at the end of its address. For 15 minutes, the ticket looks up ' +
      'hosts and stores one result, for this domain. Every script of the page can read it, and could store a forged result.',
  },
  getSiteChecks: {
    ...shown,
    path: checks,
    query: listQuery,
    answers: { 200: answer('A page of checks', checksPage, examples.checksPage) },
    refusals: ['domain_not_found'],
    summary: 'List the checks of a site, newest first',
    description: 'The newest 100 of each domain are kept.',
  },
  getSiteCheck: {
    ...shown,
    path: `${checks}/:checkId`,
    params: checkPath,
    answers: { 200: answer('The check', shownCheck, examples.shownCheck) },
    refusals: ['domain_not_found', 'check_not_found'],
    summary: 'Get a check of a site, with what was seen in each step',
    description:
      'Names of hosts, cookies and storage keys, and counts; never values. `sha256` is that of `result` as compact JSON.',
  },
} satisfies Routes;

/** From the checked page, with the ticket in the body. */
const fromPage = { method: 'post', auth: [], params: domainPath, tag: 'Banner' } as const;
const pageRefusals = [
  'invalid_json',
  'invalid_request',
  'invalid_ticket',
  'origin_not_allowed',
  'not_found',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'not_configured',
] as const;

export const siteCheckRoutes = {
  lookUpHosts: {
    ...fromPage,
    path: '/v1/consent/:domainId/checks/hosts',
    body: { schema: hostsBody, example: examples.hostsBody, bytes: largestCheck },
    answers: { 200: answer('The hosts in the same order', hostsAnswer, examples.hostsAnswer) },
    refusals: pageRefusals,
    summary: 'Look up the owners of hosts, for a check of a site',
    description: 'For the page that is checked, with the ticket of the check.',
  },
  storeCheck: {
    ...fromPage,
    path: '/v1/consent/:domainId/checks',
    body: { schema: checkBody, example: examples.checkBody, bytes: largestCheck },
    answers: {
      200: answer('The ticket has already stored this result', listedCheck, examples.listedCheck),
      201: answer('The stored check', listedCheck, examples.listedCheck),
    },
    refusals: pageRefusals,
    summary: 'Store the result of a check of a site',
    description:
      'For the page that is checked, with the ticket of the check. The service adds the owners of hosts. Above 64 KiB, the ' +
      'most frequent hosts stay. Storing is an administrative act (`site.check`) of the person who asked for the ticket.',
  },
} satisfies KeyRoutes;
