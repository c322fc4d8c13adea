/** Webhooks of the organization. */
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { listQuery } from '../queries.ts';
import {
  deliveriesPage,
  madeWebhook,
  replayBody,
  webhook,
  webhookBody,
  webhookChange,
  webhookPath,
  webhookReplay,
  webhookSecret,
  webhooksPage,
  webhookTest,
} from '../webhook.ts';
import { answer, etag, ifMatch, jsonBody, read, refusals, scopedCodes, withBody } from './parts.ts';

const tags = ['Webhooks'];
const known = { tags, requestParams: { path: webhookPath } };
const codes = [...scopedCodes, 'webhook_not_found'] as const;
const wanted = ['domain_not_found', 'plan_feature_required', ...withBody] as const;
const webhooks = '/v1/organization/webhooks';

export const webhookPaths: ZodOpenApiPathsObject = {
  [webhooks]: {
    get: read({
      operationId: 'getWebhooks',
      summary: 'The webhooks, newest first',
      tags,
      requestParams: { query: listQuery },
      responses: { 200: answer('A page of webhooks', webhooksPage), ...refusals(...scopedCodes) },
    }),
    post: read({
      operationId: 'createWebhook',
      summary: 'Make a webhook; with `records.sealed` the access token needs `read`, too',
      tags,
      ...jsonBody(webhookBody),
      responses: {
        201: answer('The webhook, and this once its secret', madeWebhook, etag),
        ...refusals(...scopedCodes, ...wanted),
      },
    }),
  },
  [`${webhooks}/{webhookId}`]: {
    get: read({
      operationId: 'getWebhook',
      summary: 'A webhook',
      ...known,
      responses: { 200: answer('The webhook', webhook, etag), ...refusals(...codes) },
    }),
    patch: read({
      operationId: 'changeWebhook',
      summary: 'Change, disable or enable a webhook; with `records.sealed` the access token needs `read`, too',
      tags,
      requestParams: { path: webhookPath, header: ifMatch },
      ...jsonBody(webhookChange),
      responses: {
        200: answer('The webhook as it is now', webhook, etag),
        ...refusals(...codes, ...wanted, 'changed_meanwhile'),
      },
    }),
    delete: read({
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook and its deliveries',
      tags,
      requestParams: { path: webhookPath, header: ifMatch },
      responses: {
        200: answer('The webhook as it was', webhook, etag),
        ...refusals(...codes, 'changed_meanwhile'),
      },
    }),
  },
  [`${webhooks}/{webhookId}/test`]: {
    post: read({
      operationId: 'testWebhook',
      summary: 'Send a `webhook.test`, once; the deliveries say how it went',
      ...known,
      responses: { 202: answer('It will be sent', webhookTest), ...refusals(...codes) },
    }),
  },
  [`${webhooks}/{webhookId}/secret`]: {
    post: read({
      operationId: 'rotateWebhookSecret',
      summary: 'A new secret; the one before signs beside it for 24 hours',
      ...known,
      responses: { 200: answer('The secret, this once', webhookSecret), ...refusals(...codes) },
    }),
  },
  [`${webhooks}/{webhookId}/replay`]: {
    post: read({
      operationId: 'replayWebhook',
      summary: 'Send the entries of a domain again, from a position on; needs `read`, too',
      ...known,
      ...jsonBody(replayBody),
      responses: {
        200: answer('From where it goes on', webhookReplay),
        ...refusals(...codes, ...wanted),
      },
    }),
  },
  [`${webhooks}/{webhookId}/deliveries`]: {
    get: read({
      operationId: 'getDeliveries',
      summary: 'Every try of the last 30 days, newest first',
      tags,
      requestParams: { path: webhookPath, query: listQuery },
      responses: { 200: answer('A page of deliveries', deliveriesPage), ...refusals(...codes) },
    }),
  },
};
