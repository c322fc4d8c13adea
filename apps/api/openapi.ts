/** The OpenAPI 3.1 document, made from the schemas that validate requests. */
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import { bannerRoutes, siteCheckRoutes } from '#libs/banner/routes';
import { answer, pathsOf, plain } from '#libs/base/http/openapi';
import type { KeyRoutes } from '#libs/base/http/routes';
import { version } from '#libs/base/version';
import { currentRoutes } from '#libs/current/routes';
import { logRoutes } from '#libs/log/routes';
import { noticeKeyRoutes, noticeRoutes } from '#libs/notices/routes';
import { peopleRoutes, signInRoutes } from '#libs/people/routes';
import { placeRoutes } from '#libs/place/routes';
import { privacyRoutes } from '#libs/privacy/routes';
import { proofRoutes } from '#libs/proof/routes';
import { recordRoutes } from '#libs/record/routes';
import { displayRoutes, statsRoutes } from '#libs/stats/routes';
import { signIn } from '#libs/tenants/contract';
import { signIn as signInExample } from '#libs/tenants/examples';
import { manageRoutes } from '#libs/tenants/routes';
import { webhookRoutes } from '#libs/webhooks/routes';

const etag = { ETag: z.string().meta({ description: 'send it as `If-None-Match` to check for changes' }) };
const unchanged = { description: 'Unchanged since the response with this `ETag`' };
const open = { method: 'get', auth: [], refusals: ['invalid_request'], tag: 'Reference' } as const;

/** The document's own routes, without authentication. */
const referenceRoutes = {
  getSignIn: {
    ...open,
    path: '/v1/sign-in',
    answers: { 200: answer('How to sign in', signIn, signInExample) },
    summary: 'Get how people sign in to the dashboard',
    description: 'People can always sign in with an access token.',
  },
  getOpenApi: {
    ...open,
    path: '/openapi.json',
    answers: {
      200: answer('The OpenAPI document', z.looseObject({ openapi: z.string() }), { openapi: '3.1.0' }, etag),
      304: unchanged,
    },
    summary: 'Get this document',
    description: 'The document is generated from the schemas that validate requests.',
  },
  getDocs: {
    ...open,
    path: '/docs',
    answers: { 200: plain('The page', 'text/html', '<!doctype html>…', etag), 304: unchanged },
    summary: 'Get this document as a web page',
    description: 'The page loads nothing from other hosts.',
  },
} satisfies KeyRoutes;

/** In the order of the reference. */
const routes = {
  ...recordRoutes,
  ...displayRoutes,
  ...placeRoutes,
  ...statsRoutes,
  ...currentRoutes,
  ...logRoutes,
  ...noticeRoutes,
  ...noticeKeyRoutes,
  ...proofRoutes,
  ...privacyRoutes,
  ...manageRoutes,
  ...bannerRoutes,
  ...siteCheckRoutes,
  ...webhookRoutes,
  ...peopleRoutes,
  ...signInRoutes,
  ...referenceRoutes,
};

/** `address`: where people reach the service; default: the document's own host. */
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
      { name: 'Record', description: "For widgets, with a domain's API key." },
      { name: 'Read', description: "For dashboards, with an organization's access token." },
      { name: 'Current', description: "For a site's own servers: what visitors allow now; scope `current`." },
      { name: 'Notices', description: 'What visitors were shown.' },
      { name: 'Log', description: 'The sealed log: checkpoints and proofs.' },
      { name: 'Import', description: 'Records from another service or from an export; scope `import`.' },
      { name: 'Privacy', description: 'Access to what is stored about a visitor, and erasure; scope `privacy`.' },
      { name: 'Manage', description: 'Domains, their keys, and administrative acts; scope `manage`.' },
      { name: 'Banner', description: 'What pages show: drafts and publications; scope `publish` or `manage`.' },
      {
        name: 'Webhooks',
        description: 'Messages about entries, erasures and limits, sent as they happen; scope `manage`.',
      },
      { name: 'People', description: 'Accounts: who may do what in an organization, and how they sign in.' },
      { name: 'Reference', description: 'The description of this API.' },
    ],
    paths: pathsOf(routes),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'Write-only, and valid for one domain.',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A JWT with the claims `sub`, `org`, `exp` and `scope`.',
        },
      },
    },
  });
