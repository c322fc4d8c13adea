/** Gauges of what is left to do by what Postgres says, which all workers share: read when they are scraped. */
import { Gauge, type Registry } from 'prom-client';
import { oneLook } from './one-look.ts';

const gauges = {
  owedRaises: ['assent_owed_raises', 'Counters that wait to be raised in Redis'],
  rejectedRecords: ['assent_rejected_records', 'Records that Postgres rejected and that wait for a replay'],
  webhooksFailing: ['assent_webhooks_failing', 'Enabled webhooks that have failed since their last delivery'],
  webhookFailing: [
    'assent_webhook_failing_seconds',
    'Seconds since the first failure of the webhook that has failed longest',
  ],
  epochsClosed: ['assent_epochs_closed', 'Number of the newest closed epoch'],
  epochOpen: ['assent_epoch_open_seconds', 'Seconds that the open epoch has been open'],
  archiveFailing: ['assent_postgres_archive_failing', '1 while Postgres cannot archive its write-ahead log'],
} as const;
type Name = keyof typeof gauges;

interface Backlog extends Record<Name, number> {
  /** seconds, by derivation */
  derivationLag: Record<string, number>;
  /** by what is done with them */
  monthsDue: Record<'drop' | 'blank', number>;
  /** Unix seconds, by task */
  housekeeping: Record<string, number>;
}

/** Where `look` fails, there are no values: old ones would say that all is as it was. */
export function createBacklogGauges(register: Registry, look: () => Promise<Backlog>, onError: () => void): void {
  const collect = oneLook(
    look,
    (backlog) => show(backlog),
    () => {
      for (const { gauge } of made) gauge.remove();
      derivationLag.reset();
      monthsDue.reset();
      housekeeping.reset();
      onError();
    },
  );
  const shared = { registers: [register], collect };
  const made = (Object.keys(gauges) as Name[]).map((key) => {
    const [name, help] = gauges[key];
    return { key, gauge: new Gauge({ name, help, ...shared }) };
  });
  const derivationLag = new Gauge({
    name: 'assent_derivation_lag_seconds',
    help: 'Seconds since the oldest epoch was closed that a derivation is not done with, by derivation',
    labelNames: ['derivation'],
    ...shared,
  });
  const monthsDue = new Gauge({
    name: 'assent_months_due',
    help: 'Months past retention that are dropped (drop), or lose their personal fields (blank), within a day, by act',
    labelNames: ['act'],
    ...shared,
  });
  const housekeeping = new Gauge({
    name: 'assent_housekeeping_last_success_timestamp_seconds',
    help: 'When a task of housekeeping last succeeded in any worker, or was first scheduled, by task',
    labelNames: ['task'],
    ...shared,
  });
  const show = (backlog: Backlog) => {
    for (const { key, gauge } of made) gauge.set(backlog[key]);
    derivationLag.reset();
    for (const [derivation, seconds] of Object.entries(backlog.derivationLag))
      derivationLag.set({ derivation }, seconds);
    for (const [act, months] of Object.entries(backlog.monthsDue)) monthsDue.set({ act }, months);
    housekeeping.reset();
    for (const [task, at] of Object.entries(backlog.housekeeping)) housekeeping.set({ task }, at);
  };
}
