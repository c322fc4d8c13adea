/** Webhooks of the organization. */
import { answer, etag, idempotencyKey, ifMatch, onceCodes, replayed } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
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

const shown = { method: 'get', scope: ['manage'], limits: 'reads', tag: 'Webhooks' } as const;
const change = { scope: ['manage'], limits: 'changes', tag: 'Webhooks' } as const;
const codes = ['not_configured', 'webhook_not_found'] as const;
const wanted = ['domain_not_found', 'plan_feature_required'] as const;

const all = '/v1/organization/webhooks';
const one = `${all}/:webhookId` as const;

export const webhookRoutes = {
  getWebhooks: {
    ...shown,
    path: all,
    query: listQuery,
    answers: { 200: answer('A page of webhooks', webhooksPage, examples.webhooksPage) },
    refusals: ['not_configured'],
    summary: 'The webhooks, newest first',
    description: '`failingSince` is null while deliveries arrive.',
  },
  createWebhook: {
    ...change,
    method: 'post',
    path: all,
    headers: idempotencyKey,
    body: { schema: webhookBody, example: examples.webhookBody },
    answers: {
      201: answer('The webhook, and this once its secret', madeWebhook, examples.madeWebhook, { ...etag, ...replayed }),
    },
    refusals: ['not_configured', ...wanted, 'quota_exceeded', ...onceCodes],
    summary: 'Make a webhook; with `records.sealed` the access token needs `read`, too',
    description: 'The secret is shown only here; it signs each message as Standard Webhooks describes.',
  },
  getWebhook: {
    ...shown,
    path: one,
    params: webhookPath,
    answers: { 200: answer('The webhook', webhook, examples.webhook, etag) },
    refusals: codes,
    summary: 'A webhook',
    description: '`failingSince` is null while deliveries arrive.',
  },
  changeWebhook: {
    ...change,
    method: 'patch',
    path: one,
    params: webhookPath,
    headers: ifMatch,
    body: { schema: webhookChange, example: examples.webhookChange },
    answers: { 200: answer('The webhook as it is now', webhook, examples.changedWebhook, etag) },
    refusals: [...codes, ...wanted, 'changed_meanwhile'],
    summary: 'Change, disable or enable a webhook; with `records.sealed` the access token needs `read`, too',
    description:
      'Fields that are left out stay as they are. With `enabled: true` a disabled webhook goes on where it stopped.',
  },
  deleteWebhook: {
    ...change,
    method: 'delete',
    path: one,
    params: webhookPath,
    headers: ifMatch,
    answers: { 200: answer('The webhook as it was', webhook, examples.webhook, etag) },
    refusals: [...codes, 'changed_meanwhile'],
    summary: 'Delete a webhook and its deliveries',
    description: 'What was not delivered yet is dropped.',
  },
  testWebhook: {
    ...change,
    method: 'post',
    path: `${one}/test`,
    params: webhookPath,
    answers: { 202: answer('It will be sent', webhookTest, examples.webhookTest) },
    refusals: codes,
    summary: 'Send a `webhook.test`, once; the deliveries say how it went',
    description: 'The message is like any other, signed and with a `webhook-id`, but is never retried.',
  },
  rotateWebhookSecret: {
    ...change,
    method: 'post',
    path: `${one}/secret`,
    params: webhookPath,
    headers: idempotencyKey,
    answers: { 200: answer('The secret, this once', webhookSecret, examples.webhookSecret, replayed) },
    refusals: [...codes, ...onceCodes],
    summary: 'A new secret; the one before signs beside it for 24 hours',
    description: 'Give the new secret to the receiver within 24 hours: until then messages carry both signatures.',
  },
  replayWebhook: {
    ...change,
    method: 'post',
    path: `${one}/replay`,
    alsoNeeds: 'read',
    params: webhookPath,
    headers: idempotencyKey,
    body: { schema: replayBody, example: examples.replayBody },
    answers: { 200: answer('From where it goes on', webhookReplay, examples.webhookReplay, replayed) },
    refusals: [...codes, ...wanted, ...onceCodes],
    summary: 'Send the entries of a domain again, from a position on; needs `read`, too',
    description:
      'For a receiver that lost data. Messages have new ids and the same `timestamp` in their bodies, and positions say which entries they are about.',
  },
  getDeliveries: {
    ...shown,
    path: `${one}/deliveries`,
    params: webhookPath,
    query: listQuery,
    answers: { 200: answer('A page of deliveries', deliveriesPage, examples.deliveriesPage) },
    refusals: codes,
    summary: 'Every try of the last 30 days, newest first',
    description: 'Each try has its outcome and, where it failed, the reason and the time of the next try.',
  },
} satisfies Routes;
