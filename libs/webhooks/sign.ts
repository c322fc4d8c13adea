/** Signatures as Standard Webhooks 1.0 has them. */
import { createHmac } from 'node:crypto';

export interface Signed {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/** One signature for each secret. `at`: when it is sent, so that an old message is not taken for a new one. */
export function sign(messageId: string, at: Date, body: string, secrets: Buffer[]): Signed {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', secret).update(`${messageId}.${timestamp}.${body}`).digest('base64');
    return `v1,${mac}`;
  });
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
