/** The OpenAPI 3.1 document, made from the schemas that validate: what it says is what the service does. */
import { createDocument } from 'zod-openapi';
import { outAndInPaths, overviewPaths, recordsPaths } from '#libs/log/openapi';
import { noticePaths } from '#libs/notices/openapi';
import { privacyPaths } from '#libs/privacy/openapi';
import { proofPaths } from '#libs/proof/openapi';
import { recordPaths } from '#libs/record/openapi';
import { displayPaths, organizationPaths, statsPaths } from '#libs/stats/openapi';
import { managePaths } from '#libs/tenants/openapi';
import { webhookPaths } from '#libs/webhooks/openapi';
import { referencePaths } from './reference-openapi.ts';

/** of the API, not of the release */
const version = '1.0.0';

export const createOpenApi = () =>
  createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Assent',
      version,
      description: 'Records consent decisions from a website widget, and serves them as statistics and as a log.',
      contact: { name: 'The maintainers of Assent' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
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
    paths: {
      ...recordPaths,
      ...displayPaths,
      ...overviewPaths,
      ...statsPaths,
      ...recordsPaths,
      ...organizationPaths,
      ...outAndInPaths,
      ...noticePaths,
      ...proofPaths,
      ...privacyPaths,
      ...managePaths,
      ...webhookPaths,
      ...referencePaths,
    },
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
