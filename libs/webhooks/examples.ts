import { decidedAt, domainId, laterAt, messageId, webhookId } from '#libs/base/terms/example-names';
import type {
  DeliveriesPage,
  MadeWebhook,
  Webhook,
  WebhookBody,
  WebhookChange,
  WebhookReplay,
  WebhookRetry,
  WebhookSecret,
  WebhooksPage,
  WebhookTest,
} from './contract.ts';

const url = 'https://hooks.example.com/assent';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const webhookBody: WebhookBody = {
  url,
  types: ['records.sealed'],
  domains: [domainId],
  decisions: ['withdraw'],
  headers: { authorization: 'Bearer of-the-receiver' },
};

export const webhook: Webhook = {
  webhookId,
  url,
  types: ['records.sealed'],
  domains: [domainId],
  decisions: ['withdraw'],
  headers: ['authorization'],
  maxBytes: 65_536,
  enabled: true,
  createdAt: decidedAt,
  lastDeliveredAt: laterAt,
  failingSince: null,
};

export const madeWebhook: MadeWebhook = { ...webhook, lastDeliveredAt: null, secret };
export const webhooksPage: WebhooksPage = { webhooks: [webhook], nextCursor: null };
export const webhookChange: WebhookChange = { enabled: false };
export const changedWebhook: Webhook = { ...webhook, enabled: false };
export const webhookTest: WebhookTest = { webhookId, messageId };
export const webhookRetry: WebhookRetry = { webhookId, messages: 2 };
export const webhookSecret: WebhookSecret = { webhookId, secret, previousUntil: '2026-11-23T08:25:00.012Z' };
export const replayBody = { domainId, from: 0 };
export const webhookReplay: WebhookReplay = { webhookId, domainId, log: 1, from: 0, size: 7 };

export const deliveriesPage: DeliveriesPage = {
  deliveries: [
    {
      messageId,
      type: 'records.sealed',
      domainId,
      log: 1,
      first: 4,
      size: 7,
      attempt: 1,
      at: laterAt,
      milliseconds: 84,
      outcome: 'delivered',
      failure: null,
      status: 200,
      nextTryAt: null,
    },
  ],
  nextCursor: null,
};
