/** A domain's banner: its draft, and what is published. */
import { answer, etag, idempotencyKey, ifMatch, onceCodes, replayed } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import {
  bannerVersion,
  largestDraft,
  publishBody,
  settings,
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
} satisfies Routes;
