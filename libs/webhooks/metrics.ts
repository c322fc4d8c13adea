import { Counter, type Registry } from 'prom-client';
import type { GaugeQuery } from '#libs/base/ops/sampled-gauges';
import { failures } from './contract.ts';

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
  // a rate needs a zero before the first count
  for (const outcome of ['delivered', ...failures]) metrics.webhookTries.inc({ outcome }, 0);
  return metrics;
}

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;

interface Backlog {
  failing: number;
  /** 0 if none fails */
  longest: number;
}

export const webhookBacklog: GaugeQuery<Backlog> = {
  ask: async (sql) => {
    const [row] = await sql<Backlog[]>`
      select
        count(*) filter (where failing_since is not null)::int as failing,
        greatest(0, extract(epoch from clock_timestamp() - min(failing_since)))::float8 as longest
      from webhooks where enabled`;
    return row ?? { failing: 0, longest: 0 };
  },
  gauges: [
    {
      name: 'assent_webhooks_failing',
      help: 'Enabled webhooks that have failed since their last delivery',
      values: ({ failing }) => failing,
    },
    {
      name: 'assent_webhook_failing_seconds',
      help: 'Seconds since the first failure of the webhook that has failed longest',
      values: ({ longest }) => longest,
    },
  ],
};
