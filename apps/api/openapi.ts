/** The OpenAPI 3.1 document, made from the schemas that validate: what it says is what the service does. */
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import { answer, pathsOf, plain } from '#libs/base/http/openapi';
import type { KeyRoutes } from '#libs/base/http/routes';
import { version } from '#libs/base/version';
import { logRoutes } from '#libs/log/routes';
import { noticeKeyRoutes, noticeRoutes } from '#libs/notices/routes';
import { privacyRoutes } from '#libs/privacy/routes';
import { proofRoutes } from '#libs/proof/routes';
import { recordRoutes } from '#libs/record/routes';
import { displayRoutes, statsRoutes } from '#libs/stats/routes';
import { signIn } from '#libs/tenants/contract';
import { signIn as signInExample } from '#libs/tenants/examples';
import { manageRoutes } from '#libs/tenants/routes';
import { webhookRoutes } from '#libs/webhooks/routes';

const etag = { ETag: z.string().meta({ description: 'send it as `If-None-Match` to ask whether it changed' }) };
const unchanged = { description: 'It is the same as the one with this `ETag`' };
const open = { method: 'get', auth: [], refusals: ['invalid_request'], tag: 'Reference' } as const;

/** Of the document itself, for everybody. */
const referenceRoutes = {
  getSignIn: {
    ...open,
    path: '/v1/sign-in',
    answers: { 200: answer('The way to sign in', signIn, signInExample) },
    summary: 'How people sign in to the dashboard, beside access tokens',
    description: '`oidc` is null where people sign in with access tokens alone.',
  },
  getOpenApi: {
    ...open,
    path: '/openapi.json',
    answers: {
      200: answer('The OpenAPI document', z.looseObject({ openapi: z.string() }), { openapi: '3.1.0' }, etag),
      304: unchanged,
    },
    summary: 'This document',
    description: 'It is made from the schemas that validate requests.',
  },
  getDocs: {
    ...open,
    path: '/docs',
    answers: { 200: plain('The page', 'text/html', '<!doctype html>…', etag), 304: unchanged },
    summary: 'This document as a page',
    description: 'It loads nothing from other hosts.',
  },
} satisfies KeyRoutes;

/** In the order of the reference. */
const routes = {
  ...{ ...recordRoutes, ...displayRoutes },
  ...{ ...statsRoutes, ...logRoutes },
  ...{ ...noticeRoutes, ...noticeKeyRoutes },
  ...proofRoutes,
  ...privacyRoutes,
  ...manageRoutes,
  ...webhookRoutes,
  ...referenceRoutes,
};

/** `address`: where people reach the service; else where the document is. */
export const createOpenApi = (address = '') =>
  createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Assent',
      version,
      description: 'Records consent decisions from a website widget, and serves them as statistics and as a log.',
      contact: { name: 'The maintainers of Assent' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${address}/` }],
    tags: [
      { name: 'Record', description: 'for widgets, with the API key of a domain' },
      { name: 'Read', description: 'for dashboards, with an access token of an organization' },
      { name: 'Notices', description: 'what visitors were shown' },
      { name: 'Log', description: 'the sealed log: checkpoints and proofs' },
      { name: 'Import', description: 'records from elsewhere; scope `import`' },
      { name: 'Privacy', description: 'access to what is stored about a visitor, and erasure; scope `privacy`' },
      { name: 'Manage', description: 'domains, their keys, administrative acts; scope `manage`' },
      { name: 'Webhooks', description: 'what is sent as it happens; scope `manage`' },
      { name: 'Reference', description: 'the API description' },
    ],
    paths: pathsOf(routes),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'write-only; belongs to one domain' },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'claims `sub`, `org`, `exp`, and `scope`',
        },
      },
    },
  });
