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
} from '#libs/contract/webhook';

export interface Call {
  query?: { limit?: number; cursor?: string | undefined };
  body?: object;
  /** the version that is to be changed: any other one is not */
  tag?: string | null;
  signal?: AbortSignal | undefined;
}

export interface Called<Body> {
  body: Body;
  /** its version, where the answer has one */
  tag: string | null;
}

export interface WebhookApi {
  list(cursor?: string, signal?: AbortSignal): Promise<WebhooksPage>;
  read(webhookId: string, signal?: AbortSignal): Promise<Called<Webhook>>;
  create(body: WebhookBody): Promise<MadeWebhook>;
  /** `tag`: of the version that it was changed from; absent, whatever the version. */
  change(webhookId: string, change: WebhookChange, tag?: string | null): Promise<Called<Webhook>>;
  remove(webhookId: string): Promise<void>;
  /** The worker sends it; how it went is among the deliveries. */
  test(webhookId: string): Promise<WebhookTest>;
  rotate(webhookId: string): Promise<WebhookSecret>;
  replay(webhookId: string, from: Replay): Promise<WebhookReplay>;
  deliveries(webhookId: string, cursor?: string, signal?: AbortSignal): Promise<DeliveriesPage>;
}

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

const listed = 100;
const all = '/v1/organization/webhooks';
const bodyOf = <Body>({ body }: Called<Body>): Body => body;

export function createWebhookApi(send: Send): WebhookApi {
  const one = (webhookId: string, rest = '') => `${all}/${encodeURIComponent(webhookId)}${rest}`;
  return {
    list: (cursor, signal) => send<WebhooksPage>('GET', all, { query: { limit: listed, cursor }, signal }).then(bodyOf),
    read: (webhookId, signal) => send('GET', one(webhookId), { signal }),
    create: (body) => send<MadeWebhook>('POST', all, { body }).then(bodyOf),
    change: (webhookId, body, tag = null) => send('PATCH', one(webhookId), { body, tag }),
    remove: async (webhookId) => void (await send('DELETE', one(webhookId))),
    test: (webhookId) => send<WebhookTest>('POST', one(webhookId, '/test')).then(bodyOf),
    rotate: (webhookId) => send<WebhookSecret>('POST', one(webhookId, '/secret')).then(bodyOf),
    replay: (webhookId, body) => send<WebhookReplay>('POST', one(webhookId, '/replay'), { body }).then(bodyOf),
    deliveries: (webhookId, cursor, signal) =>
      send<DeliveriesPage>('GET', one(webhookId, '/deliveries'), { query: { cursor }, signal }).then(bodyOf),
  };
}
