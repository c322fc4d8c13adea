/** The endpoints of webhooks. */
import type { WebhookBody, WebhookChange } from '#libs/webhooks/contract';
import type { Api } from '../data/api.ts';
import { bodyOf, readAll } from '../data/calls.ts';
import { idempotent } from '../data/idempotent.ts';

/** All entries of that log from that position. */
export interface Replay {
  domainId: string;
  from: number;
  /** default: the newest */
  log?: number | undefined;
}

const all = '/v1/organization/webhooks';
const one = `${all}/:webhookId` as const;

export const webhooksOf = ({ call: ask }: Api) => ({
  /** All webhooks, newest first. */
  list: (signal?: AbortSignal) =>
    readAll(
      (query) => ask(`get ${all}`, { query, signal }),
      (page) => page.webhooks,
    ),
  read: (webhookId: string, signal?: AbortSignal) => ask(`get ${one}`, { params: { webhookId }, signal }),
  create: (body: WebhookBody) => idempotent(ask)(`post ${all}`, { body }).then(bodyOf),
  /** `tag`: the version to change; without it, any version is overwritten. */
  change: (webhookId: string, body: WebhookChange, tag: string | null = null) =>
    ask(`patch ${one}`, { params: { webhookId }, body, tag }),
  remove: async (webhookId: string) => void (await ask(`delete ${one}`, { params: { webhookId } })),
  /** The worker sends the test; its outcome is among the deliveries. */
  test: (webhookId: string) => ask(`post ${one}/test`, { params: { webhookId } }).then(bodyOf),
  /** Retries the waiting messages at once. */
  retry: (webhookId: string) => ask(`post ${one}/retry`, { params: { webhookId } }).then(bodyOf),
  rotate: (webhookId: string) => idempotent(ask)(`post ${one}/secret`, { params: { webhookId } }).then(bodyOf),
  replay: (webhookId: string, body: Replay) =>
    idempotent(ask)(`post ${one}/replay`, { params: { webhookId }, body }).then(bodyOf),
  deliveries: (webhookId: string, cursor?: string, signal?: AbortSignal) =>
    ask(`get ${one}/deliveries`, { params: { webhookId }, query: { cursor }, signal }).then(bodyOf),
});
