/** What visitors were shown. */
import { z } from 'zod';
import { answer } from '#libs/base/http/openapi';
import type { KeyRoutes, Routes } from '#libs/base/http/routes';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import { noticePath, noticePut, noticesPage } from './contract.ts';
import * as examples from './examples.ts';

const notice = z
  .looseObject({ language: z.unknown().optional(), version: z.unknown().optional() })
  .meta({ id: 'Notice', description: 'what a visitor was shown: at most 16 KiB and 16 levels, under its SHA-256' });

const shown = { method: 'get', scope: ['read'], limits: 'reads', tag: 'Notices' } as const;

export const noticeRoutes = {
  getNotices: {
    ...shown,
    path: '/v1/consent/:domainId/notices',
    params: domainPath,
    query: listQuery,
    answers: { 200: answer('A page of notices', noticesPage, examples.noticesPage) },
    refusals: ['domain_not_found'],
    summary: 'What visitors were shown: the notices that are held, newest first',
    description: 'Each notice is listed with its hash, under which the document itself can be read.',
  },
  getNotice: {
    ...shown,
    path: '/v1/consent/:domainId/notices/:hash',
    params: noticePath,
    answers: {
      200: answer('The document', notice, examples.notice, {
        'Content-Disposition': z.string().meta({ description: 'an attachment' }),
      }),
    },
    refusals: ['domain_not_found', 'notice_not_found'],
    summary: 'A notice, byte for byte as it was put',
    description: 'It is sent as an attachment, so that no browser shows it as a page.',
  },
} satisfies Routes;

export const noticeKeyRoutes = {
  putNotice: {
    method: 'put',
    path: noticeRoutes.getNotice.path,
    auth: ['apiKey', 'accessToken'],
    params: noticePath,
    upload: { required: true, content: { 'application/json': { schema: notice, example: examples.notice } } },
    answers: {
      200: answer('It is known', noticePut, examples.noticePut),
      201: answer('It is new', noticePut, examples.noticePut),
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
    summary: 'Keep what a visitor was shown; with an access token (scope `manage`) instead of the key without limits',
    description:
      'The hash in the path is the SHA-256 of the body, byte for byte. A receipt with `"notice": "wanted"` asks for it. ' +
      'With the key at most 20 new ones a day from one address and 500 of one domain; of these, one that fewer records ' +
      'name makes room for one that more name. What few records have named after 30 days is dropped.',
  },
} satisfies KeyRoutes;
