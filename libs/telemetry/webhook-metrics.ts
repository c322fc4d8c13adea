/** Webhooks. */
import { Counter, type Registry } from 'prom-client';
import { failures } from '#libs/contract/webhook';

export function createWebhookMetrics(register: Registry) {
  const registers = [register];
  const metrics = {
    webhookTries: new Counter({
      name: 'assent_webhook_tries_total',
      help: 'Tries to deliver a message to a webhook by outcome: delivered, or why it failed',
      labelNames: ['outcome'],
      registers,
    }),
  };
  // a rate misses the first count of what begins with it
  for (const outcome of ['delivered', ...failures]) metrics.webhookTries.inc({ outcome }, 0);
  return metrics;
}

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;
