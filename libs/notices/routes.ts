/** What visitors were shown. */
import { z } from 'zod';
import { answer } from '#libs/base/http/openapi';
import type { KeyRoutes, Routes } from '#libs/base/http/routes';
import { decidedAt, noticeHash } from '#libs/base/terms/example-names';
import { domainPath } from '#libs/base/terms/parameters';
import { type NoticePut, type NoticesPage, noticePath, noticePut, noticesPage, noticesQuery } from './contract.ts';

const notice = z.looseObject({ language: z.unknown().optional(), version: z.unknown().optional() }).meta({
  id: 'Notice',
  description: 'What a visitor was shown, stored under its SHA-256: at most 16 KiB and 16 levels.',
});

const exampleNotice = { version: '2026-11', language: 'de', title: 'Ihre Wahl', body: 'Wir verwenden Cookies …' };

const examplePut: NoticePut = { notice: noticeHash };

const examplePage: NoticesPage = {
  notices: [
    {
      notice: noticeHash,
      language: 'de',
      version: '2026-11',
      variant: null,
      model: null,
      firstSeenAt: decidedAt,
      records: 1234,
    },
  ],
  nextCursor: null,
};

const shown = { method: 'get', scope: ['read'], limits: 'reads', tag: 'Notices' } as const;

export const noticeRoutes = {
  getNotices: {
    ...shown,
    path: '/v1/consent/:domainId/notices',
    params: domainPath,
    query: noticesQuery,
    answers: { 200: answer('A page of notices', noticesPage, examplePage) },
    refusals: ['domain_not_found'],
    summary: 'List the stored notices, newest first',
    description: 'Each notice is listed with its hash. Use the hash to get the document itself.',
  },
  getNotice: {
    ...shown,
    path: '/v1/consent/:domainId/notices/:hash',
    params: noticePath,
    answers: {
      200: answer('The document', notice, exampleNotice, {
        'Content-Disposition': z.string().meta({ description: 'an attachment' }),
      }),
    },
    refusals: ['domain_not_found', 'notice_not_found'],
    summary: 'Get a notice, byte for byte',
    description: 'The notice is sent as an attachment, so that no browser shows it as a page.',
  },
} satisfies Routes;

export const noticeKeyRoutes = {
  putNotice: {
    method: 'put',
    path: noticeRoutes.getNotice.path,
    auth: ['apiKey', 'accessToken'],
    params: noticePath,
    upload: { required: true, content: { 'application/json': { schema: notice, example: exampleNotice } } },
    answers: {
      200: answer('The service already has the notice', noticePut, examplePut),
      201: answer('The notice is new', noticePut, examplePut),
    },
    refusals: [
      'invalid_json',
      'invalid_request',
      'invalid_api_key',
      'missing_token',
      'invalid_token',
      'insufficient_scope',
      'origin_not_allowed',
      'domain_not_found',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limited',
    ],
    tag: 'Notices',
    summary: 'Upload a notice: what a visitor was shown',
    description:
      'The hash in the path is the SHA-256 of the body, byte for byte. Upload the notice when a receipt has ' +
      '`"notice": "wanted"`. With the API key, one address can upload 20 new notices a day and one domain 500. ' +
      'Once a domain has had 500 in a day, a further notice replaces the one with the fewest recent records, if it ' +
      'has more itself. ' +
      'After 30 days, a notice to which few records referred is dropped. ' +
      'With an access token (scope `manage`) instead of the key, there are no such limits.',
  },
} satisfies KeyRoutes;
