/** Verifies webhook messages by Standard Webhooks 1.0. */
import { fromBase64 } from '#libs/proof/tree/bytes';
import { AssentError } from './assent-error.ts';
import type { Feed, FullRecord } from './contract.ts';

/** A record in a message has neither address nor user agent. */
export type SealedEntry =
  | Exclude<Feed['entries'][number], { type: 'record' }>
  | { position: number; type: 'record'; record: Omit<FullRecord, 'ip' | 'userAgent'> };

/** `timestamp`: when it happened, the same in every attempt (RFC 3339 UTC). */
export type WebhookMessage = { timestamp: string } & (
  | {
      type: 'records.sealed';
      /** the positions from `first` up to, but not including, `size` */
      data: { domainId: string; log: number; first: number; size: number; entries: SealedEntry[] };
    }
  | { type: 'visitor.erased'; data: { domainId: string; log: number; positions: number[] } }
  | { type: 'limit.approaching' | 'limit.reached'; data: { month: string; used: number; limit: number } }
  | { type: 'domain.silent'; data: { domainId: string; lastRecordAt: string } }
  | { type: 'webhook.test'; data: Record<string, unknown> }
);

/** The headers of a `Request`, or of Node's `IncomingMessage`. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** Seconds by which the clocks may differ. Within this time, a captured message could be replayed. */
const tolerance = 300;

/**
 * Returns the message if one of the secrets signed it and its timestamp is within five minutes of this clock; otherwise
 * rejects with `invalid_signature`. `body`: as received, byte for byte. `secret`: `whsec_…`, or several during a change.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | string[],
): Promise<WebhookMessage> {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    read(headers, name),
  );
  if (!id || !time || !signatures) throw refusal('It lacks `webhook-id`, `webhook-timestamp` or `webhook-signature`');
  if (!(Math.abs(Date.now() / 1_000 - Number(time)) <= tolerance))
    throw refusal('Its `webhook-timestamp` is more than five minutes away from this clock');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${time}.${text}`);
  for (const each of [secret].flat()) {
    const key = await importKey(each);
    for (const signature of signatures.split(' ')) {
      const bytes = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined;
      if (bytes && (await crypto.subtle.verify('HMAC', key, bytes.slice(), signed))) return JSON.parse(text);
    }
  }
  throw refusal('It is signed with another secret, or the body is not as it was sent');
}

function importKey(secret: string) {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes?.length)
    throw new AssentError('invalid_options', "A webhook's secret is `whsec_…`, as it was shown once.");
  return crypto.subtle.importKey('raw', bytes.slice(), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function read(headers: WebhookHeaders, name: string): string | undefined {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([own]) => own.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : undefined;
}

const refusal = (why: string) => new AssentError('invalid_signature', `This is no message of the service. ${why}.`);
