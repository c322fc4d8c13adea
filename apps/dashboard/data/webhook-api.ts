/** The endpoints of webhooks. */
import type {
  DeliveriesPage,
  MadeWebhook,
  Webhook,
  WebhookBody,
  WebhookChange,
  WebhookReplay,
  WebhookSecret,
  WebhooksPage,
  WebhookTest,
} from '#libs/webhooks/contract';
import { bodyOf, type Call, type Called, readAll } from './calls.ts';

/** Everything of that log from that position on. */
export interface Replay {
  domainId: string;
  from: number;
  /** the newest, if absent */
  log?: number | undefined;
}

export type Send = <Body>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  call?: Call,
) => Promise<Called<Body>>;

const all = '/v1/organization/webhooks';

export function createWebhookApi(send: Send) {
  const one = (webhookId: string, rest = '') => `${all}/${encodeURIComponent(webhookId)}${rest}`;
  return {
    /** All, newest first. */
    list: (signal?: AbortSignal) =>
      readAll(
        (query) => send<WebhooksPage>('GET', all, { query, signal }),
        ({ webhooks }) => webhooks,
      ),
    read: (webhookId: string, signal?: AbortSignal) => send<Webhook>('GET', one(webhookId), { signal }),
    create: (body: WebhookBody) => send<MadeWebhook>('POST', all, { body }).then(bodyOf),
    /** `tag`: of the version that it was changed from; absent, whatever the version. */
    change: (webhookId: string, body: WebhookChange, tag: string | null = null) =>
      send<Webhook>('PATCH', one(webhookId), { body, tag }),
    remove: async (webhookId: string) => void (await send('DELETE', one(webhookId))),
    /** The worker sends it; how it went is among the deliveries. */
    test: (webhookId: string) => send<WebhookTest>('POST', one(webhookId, '/test')).then(bodyOf),
    rotate: (webhookId: string) => send<WebhookSecret>('POST', one(webhookId, '/secret')).then(bodyOf),
    replay: (webhookId: string, body: Replay) =>
      send<WebhookReplay>('POST', one(webhookId, '/replay'), { body }).then(bodyOf),
    deliveries: (webhookId: string, cursor?: string, signal?: AbortSignal) =>
      send<DeliveriesPage>('GET', one(webhookId, '/deliveries'), { query: { cursor }, signal }).then(bodyOf),
  };
}
