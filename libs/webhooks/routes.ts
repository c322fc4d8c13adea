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
  webhookRetry,
  webhookSecret,
  webhooksPage,
  webhookTest,
} from './contract.ts';
import * as examples from './examples.ts';

const shown = { method: 'get', scope: ['manage'], limits: 'reads', tag: 'Webhooks' } as const;
const change = { scope: ['manage'], limits: 'changes', tag: 'Webhooks' } as const;
const codes = ['not_configured', 'webhook_not_found'] as const;
const domainCodes = ['domain_not_found', 'plan_feature_required'] as const;

const all = '/v1/organization/webhooks';
const one = `${all}/:webhookId` as const;

export const webhookRoutes = {
  getWebhooks: {
    ...shown,
    path: all,
    query: listQuery,
    answers: { 200: answer('A page of webhooks', webhooksPage, examples.webhooksPage) },
    refusals: ['not_configured'],
    summary: 'List webhooks, newest first',
    description: '`failingSince` is null while deliveries succeed.',
  },
  createWebhook: {
    ...change,
    method: 'post',
    path: all,
    headers: idempotencyKey,
    body: { schema: webhookBody, example: examples.webhookBody },
    answers: {
      201: answer('The webhook, with its secret, shown only this once', madeWebhook, examples.madeWebhook, {
        ...etag,
        ...replayed,
      }),
    },
    refusals: ['not_configured', ...domainCodes, 'quota_exceeded', ...onceCodes],
    summary: 'Create a webhook',
    description:
      'The secret is shown only here. It signs each message according to Standard Webhooks. With `records.sealed`, ' +
      'the access token also needs the scope `read`.',
  },
  getWebhook: {
    ...shown,
    path: one,
    params: webhookPath,
    answers: { 200: answer('The webhook', webhook, examples.webhook, etag) },
    refusals: codes,
    summary: 'Get a webhook',
    description: '`failingSince` is null while deliveries succeed.',
  },
  changeWebhook: {
    ...change,
    method: 'patch',
    path: one,
    params: webhookPath,
    headers: ifMatch,
    body: { schema: webhookChange, example: examples.webhookChange },
    answers: { 200: answer('The webhook as it is now', webhook, examples.changedWebhook, etag) },
    refusals: [...codes, ...domainCodes, 'changed_meanwhile'],
    summary: 'Change, disable or enable a webhook',
    description:
      'Fields that you leave out stay as they are. With `enabled: true`, a disabled webhook resumes where it ' +
      'stopped. With `records.sealed`, the access token also needs the scope `read`.',
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
    description: 'Messages that have not been delivered yet are dropped.',
  },
  testWebhook: {
    ...change,
    method: 'post',
    path: `${one}/test`,
    params: webhookPath,
    answers: { 202: answer('The message will be sent', webhookTest, examples.webhookTest) },
    refusals: codes,
    summary: 'Send a `webhook.test`',
    description:
      'The message is signed and has a `webhook-id` like any other, but it is sent only once, never retried. The ' +
      'deliveries show the outcome.',
  },
  retryWebhook: {
    ...change,
    method: 'post',
    path: `${one}/retry`,
    params: webhookPath,
    answers: { 202: answer('These messages will be sent', webhookRetry, examples.webhookRetry) },
    refusals: codes,
    summary: 'Retry waiting messages now',
    description:
      'For a receiver that works again. If an attempt fails, the waiting times start over. A disabled webhook sends ' +
      'nothing until you enable it.',
  },
  rotateWebhookSecret: {
    ...change,
    method: 'post',
    path: `${one}/secret`,
    params: webhookPath,
    headers: idempotencyKey,
    answers: { 200: answer('The secret, shown only this once', webhookSecret, examples.webhookSecret, replayed) },
    refusals: [...codes, ...onceCodes],
    summary: 'Create a new secret',
    description:
      'For 24 hours, messages are signed with both the new and the previous secret. Give the new one to the ' +
      'receiver within that time.',
  },
  replayWebhook: {
    ...change,
    method: 'post',
    path: `${one}/replay`,
    alsoNeeds: 'read',
    params: webhookPath,
    headers: idempotencyKey,
    body: { schema: replayBody, example: examples.replayBody },
    answers: {
      200: answer('The position from which entries are sent again', webhookReplay, examples.webhookReplay, replayed),
    },
    refusals: [...codes, ...domainCodes, ...onceCodes],
    summary: 'Send the entries of a domain again, from a position on',
    description:
      'For a receiver that has lost data. The messages have new ids, but the same `timestamp` in their bodies, and ' +
      'their positions say which entries they contain. The access token also needs the scope `read`.',
  },
  getDeliveries: {
    ...shown,
    path: `${one}/deliveries`,
    params: webhookPath,
    query: listQuery,
    answers: { 200: answer('A page of deliveries', deliveriesPage, examples.deliveriesPage) },
    refusals: codes,
    summary: 'List the deliveries of the last 30 days, newest first',
    description:
      'Every attempt is listed with its outcome. If it failed, it has the reason and the time of the next attempt.',
  },
} satisfies Routes;
