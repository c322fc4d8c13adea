/** `webhook.verify`, with messages as the service signs them. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Assent } from '#libs/client/assent';
import type { WebhookMessage } from '#libs/client/webhook';
import type { MessageType } from '#libs/webhooks/contract';
import { sign } from '#libs/webhooks/message';
import { formatSecret } from '#libs/webhooks/secret';

const { webhook } = new Assent({ url: 'https://consent.example.com' });
const secret = randomBytes(32);
const body = JSON.stringify({ type: 'domain.silent', timestamp: '2026-03-31T12:00:00.000Z', data: { domainId: 'dö' } });
const now = new Date();
const signed = sign('msg_1', now, body, [secret]);
const verify = (headers = {}, given: string | Uint8Array = body, by: string | string[] = formatSecret(secret)) =>
  webhook.verify(given, { ...signed, ...headers }, by);
const refused = { name: 'AssentError', code: 'invalid_signature' };

describe('a message', () => {
  it('is read, once its signature holds, however its headers and its bytes come', async () => {
    const message = await verify();
    // a type that the client does not know would not compile
    const type: MessageType = message.type;
    const all: WebhookMessage['type'] = 'webhook.test' as MessageType;
    expect([type, all]).toEqual(['domain.silent', 'webhook.test']);
    expect(message).toEqual(JSON.parse(body));
    expect(await verify({}, Buffer.from(body))).toEqual(message);
    expect(await webhook.verify(body, new Headers({ ...signed }), formatSecret(secret))).toEqual(message);
  });

  it('is read while one secret replaces another', async () => {
    const next = randomBytes(32);
    const both = sign('msg_1', now, body, [next, secret]);
    expect(await webhook.verify(body, { ...both }, formatSecret(secret))).toEqual(JSON.parse(body));
    expect(await verify({}, body, [formatSecret(next), formatSecret(secret)])).toEqual(JSON.parse(body));
  });

  it.each<[string, () => Promise<unknown>]>([
    ['has another body', () => verify({}, `${body} `)],
    ['was sent under another id', () => verify({ 'webhook-id': 'msg_2' })],
    ['is signed with another secret', () => verify({}, body, formatSecret(randomBytes(32)))],
    ['has no signature', () => verify({ 'webhook-signature': undefined })],
    ['has a signature of another kind', () => verify({ 'webhook-signature': 'v1a,AAAA' })],
    ['was sent at no time', () => verify({ 'webhook-timestamp': 'now' })],
    ...[-310, 310].map((seconds): [string, () => Promise<unknown>] => [
      `was sent ${seconds} s from now`,
      () => verify(sign('msg_1', new Date(Date.now() + seconds * 1_000), body, [secret])),
    ]),
  ])('that %s is refused', async (_, verifying) => {
    await expect(verifying()).rejects.toMatchObject(refused);
  });

  it('cannot be checked with what is no secret', async () => {
    await expect(verify({}, body, 'whsec_')).rejects.toMatchObject({ code: 'invalid_options' });
  });
});
