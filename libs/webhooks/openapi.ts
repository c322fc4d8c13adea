/** Webhooks of the organization. */
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import {
  answer,
  etag,
  idempotencyKey,
  ifMatch,
  jsonBody,
  onceCodes,
  read,
  refusals,
  replayed,
  scopedCodes,
  withBody,
} from '#libs/base/http/openapi';
import { listQuery } from '#libs/base/terms/parameters';
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
} from './contract.ts';
import * as examples from './examples.ts';

const tags = ['Webhooks'];
const known = { tags, requestParams: { path: webhookPath } };
const knownOnce = { tags, requestParams: { path: webhookPath, header: idempotencyKey } };
const listed = [...scopedCodes, 'not_configured'] as const;
const codes = [...listed, 'webhook_not_found'] as const;
const wanted = ['domain_not_found', 'plan_feature_required', ...withBody] as const;
const webhooks = '/v1/organization/webhooks';

export const webhookPaths: ZodOpenApiPathsObject = {
  [webhooks]: {
    get: read({
      operationId: 'getWebhooks',
      summary: 'The webhooks, newest first',
      description: '`failingSince` is null while deliveries arrive.',
      tags,
      requestParams: { query: listQuery },
      responses: {
        200: answer('A page of webhooks', webhooksPage, examples.webhooksPage),
        ...refusals(...listed),
      },
    }),
    post: read({
      operationId: 'createWebhook',
      summary: 'Make a webhook; with `records.sealed` the access token needs `read`, too',
      description: 'The secret is shown only here; it signs each message as Standard Webhooks describes.',
      tags,
      requestParams: { header: idempotencyKey },
      ...jsonBody(webhookBody, examples.webhookBody),
      responses: {
        201: answer('The webhook, and this once its secret', madeWebhook, examples.madeWebhook, {
          ...etag,
          ...replayed,
        }),
        ...refusals(...listed, ...wanted, 'quota_exceeded', ...onceCodes),
      },
    }),
  },
  [`${webhooks}/{webhookId}`]: {
    get: read({
      operationId: 'getWebhook',
      summary: 'A webhook',
      description: '`failingSince` is null while deliveries arrive.',
      ...known,
      responses: { 200: answer('The webhook', webhook, examples.webhook, etag), ...refusals(...codes) },
    }),
    patch: read({
      operationId: 'changeWebhook',
      summary: 'Change, disable or enable a webhook; with `records.sealed` the access token needs `read`, too',
      description:
        'Fields that are left out stay as they are. With `enabled: true` a disabled webhook goes on where it stopped.',
      tags,
      requestParams: { path: webhookPath, header: ifMatch },
      ...jsonBody(webhookChange, examples.webhookChange),
      responses: {
        200: answer('The webhook as it is now', webhook, examples.changedWebhook, etag),
        ...refusals(...codes, ...wanted, 'changed_meanwhile'),
      },
    }),
    delete: read({
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook and its deliveries',
      description: 'What was not delivered yet is dropped.',
      tags,
      requestParams: { path: webhookPath, header: ifMatch },
      responses: {
        200: answer('The webhook as it was', webhook, examples.webhook, etag),
        ...refusals(...codes, 'changed_meanwhile'),
      },
    }),
  },
  [`${webhooks}/{webhookId}/test`]: {
    post: read({
      operationId: 'testWebhook',
      summary: 'Send a `webhook.test`, once; the deliveries say how it went',
      description: 'The message is like any other, signed and with a `webhook-id`, but is never retried.',
      ...known,
      responses: { 202: answer('It will be sent', webhookTest, examples.webhookTest), ...refusals(...codes) },
    }),
  },
  [`${webhooks}/{webhookId}/secret`]: {
    post: read({
      operationId: 'rotateWebhookSecret',
      summary: 'A new secret; the one before signs beside it for 24 hours',
      description: 'Give the new secret to the receiver within 24 hours: until then messages carry both signatures.',
      ...knownOnce,
      responses: {
        200: answer('The secret, this once', webhookSecret, examples.webhookSecret, replayed),
        ...refusals(...codes, ...onceCodes),
      },
    }),
  },
  [`${webhooks}/{webhookId}/replay`]: {
    post: read({
      operationId: 'replayWebhook',
      summary: 'Send the entries of a domain again, from a position on; needs `read`, too',
      description:
        'For a receiver that lost data. Messages have new ids, and positions say which entries they are about.',
      ...knownOnce,
      ...jsonBody(replayBody, examples.replayBody),
      responses: {
        200: answer('From where it goes on', webhookReplay, examples.webhookReplay, replayed),
        ...refusals(...codes, ...wanted, ...onceCodes),
      },
    }),
  },
  [`${webhooks}/{webhookId}/deliveries`]: {
    get: read({
      operationId: 'getDeliveries',
      summary: 'Every try of the last 30 days, newest first',
      description: 'Each try has its outcome and, where it failed, the reason and the time of the next try.',
      tags,
      requestParams: { path: webhookPath, query: listQuery },
      responses: {
        200: answer('A page of deliveries', deliveriesPage, examples.deliveriesPage),
        ...refusals(...codes),
      },
    }),
  },
};
