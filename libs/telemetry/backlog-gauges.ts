/** Gauges of what is left to do by what Postgres says, which all workers share: read when they are scraped. */
import { Gauge, type Registry } from 'prom-client';
import { oneLook } from './one-look.ts';

const gauges = {
  owedRaises: ['assent_owed_raises', 'Counters that wait to be raised in Redis'],
  webhooksFailing: ['assent_webhooks_failing', 'Enabled webhooks whose every try fails'],
  epochsClosed: ['assent_epochs_closed', 'Number of the newest closed epoch'],
  epochOpen: ['assent_epoch_open_seconds', 'Seconds that the open epoch has been open'],
} as const;
type Name = keyof typeof gauges;
const names = ['owedRaises', 'webhooksFailing', 'epochsClosed', 'epochOpen'] as const satisfies Name[];

/** Where `look` fails, the last values stay. */
export function createBacklogGauges(
  register: Registry,
  look: () => Promise<Record<Name, number>>,
  onError: () => void,
): void {
  const collect = oneLook(look, (backlog) => show(backlog), onError);
  const made = names.map((key) => {
    const [name, help] = gauges[key];
    return { key, gauge: new Gauge({ name, help, registers: [register], collect }) };
  });
  const show = (backlog: Record<Name, number>) => {
    for (const { key, gauge } of made) gauge.set(backlog[key]);
  };
}
