/** Descriptions of webhooks and their deliveries. */
import type { DeliveriesPage, MessageType, Webhook, WebhookType } from '#libs/webhooks/contract';
import { now } from '../data/service-clock.ts';
import { count, dateAndTime } from '../format.ts';

export type Delivery = DeliveriesPage['deliveries'][number];

/** A new secret. The service returns it once, so the page keeps it until it is left. */
export interface FreshSecret {
  webhookId: string;
  secret: string;
  /** RFC 3339: until then the previous secret signs as well; null without one */
  previousUntil: string | null;
}

export const webhookTypes = [
  'records.sealed',
  'visitor.erased',
  'limit.approaching',
  'limit.reached',
  'domain.silent',
] as const satisfies readonly WebhookType[];

export const messageNames: Record<MessageType, string> = {
  'records.sealed': 'New entries',
  'visitor.erased': 'Erasures',
  'limit.approaching': '80% of the monthly limit',
  'limit.reached': 'Monthly limit reached',
  'domain.silent': 'Domain silent',
  'webhook.test': 'Test',
};

export const messageMeanings: Record<WebhookType, string> = {
  'records.sealed': 'decisions, sent within seconds of being sealed',
  'visitor.erased': 'which records were anonymised',
  'limit.approaching': 'once a month, for the whole organization',
  'limit.reached': 'once a month, for the whole organization',
  'domain.silent': 'sent once when no records come for longer than usual',
};

const failures: Record<string, string> = {
  timeout: 'No response within 15 seconds',
  name: 'Host name does not resolve',
  address: 'Address is not public',
  certificate: 'Invalid TLS certificate',
  connection: 'Connection failed or dropped',
};

/** Reasons why an attempt failed. */
export function failureOf({ failure, status }: Delivery): string {
  if (failure === 'redirect') return `HTTP ${status} (redirects are not followed)`;
  if (failure === 'gone') return `HTTP ${status} (gone)`;
  return failures[failure ?? ''] ?? `HTTP ${status}`;
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

export type WebhookState = 'active' | 'failing' | 'paused';

export const stateOf = ({ enabled, failingSince }: Webhook): WebhookState =>
  !enabled ? 'paused' : failingSince === null ? 'active' : 'failing';

/** Whether the service paused the webhook because nothing could be delivered. */
export function isGivenUp({ enabled, failingSince }: Webhook, deliveries: Delivery[]): boolean {
  const last = lastOfMessages(deliveries);
  return !enabled && failingSince !== null && last?.outcome === 'failed' && last.nextTryAt === null;
}

/** The newest attempt that was not a test. */
export const lastOfMessages = (deliveries: Delivery[]): Delivery | undefined =>
  deliveries.find(({ type }) => type !== 'webhook.test');

export const isDelivered = ({ outcome }: Delivery): boolean => outcome === 'delivered';

/** Identifies an attempt. A message has the same id in each. */
export const idOfTry = ({ messageId, attempt, at }: Delivery): string => `${messageId} ${attempt} ${at}`;

/** Time of the message's next attempt, from its newest one. Null if there is none, or it is due. */
export function nextTryOf({ outcome, type, nextTryAt }: Delivery): string | null {
  if (outcome === 'delivered' || type === 'webhook.test') return null;
  if (nextTryAt === null) return 'none, this was the last try';
  return Date.parse(nextTryAt) > now() ? `${dateAndTime(nextTryAt)} UTC` : null;
}

const entryName = (position: number): string => `entry ${count(position)}`;

/** `entries 0–99`; from log 2 on with the log's number. Null if the message has no positions. */
export function entriesOf({ log, first, size }: Delivery): string | null {
  if (first === null || size === null) return null;
  const range = size - first > 1 ? `entries ${count(first)}–${count(size - 1)}` : entryName(first);
  return log !== null && log > 1 ? `${range} of log ${count(log)}` : range;
}

/** Adds the newest attempts in front; starts over if a whole page is new. */
export function mergeDeliveries(known: DeliveriesPage, newest: DeliveriesPage): DeliveriesPage {
  const ids = new Set(known.deliveries.map(idOfTry));
  const fresh = newest.deliveries.filter((each) => !ids.has(idOfTry(each)));
  if (fresh.length === 0) return known;
  if (fresh.length === newest.deliveries.length) return newest;
  return { deliveries: [...fresh, ...known.deliveries], nextCursor: known.nextCursor };
}
