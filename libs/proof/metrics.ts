/** Metrics of the sealed log. */
import { Counter, Gauge, type Registry } from 'prom-client';

export function createProofMetrics(register: Registry) {
  const registers = [register];
  const metrics = {
    entriesSealed: new Counter({
      name: 'assent_log_entries_sealed_total',
      help: 'Records and erasures that got their position in a sealed log',
      registers,
    }),
    checkpoints: new Counter({
      name: 'assent_log_checkpoints_total',
      help: 'Checkpoints of sealed logs that were signed and published',
      registers,
    }),
    logsHalted: new Gauge({
      name: 'assent_logs_halted',
      help: 'Sealed logs that get no positions, because Postgres lacks, or may lack, what was sealed before',
      registers,
    }),
    timestampAge: new Gauge({
      name: 'assent_timestamp_age_seconds',
      help: 'Seconds since the newest checkpoints were last found time-stamped; 0 without TIMESTAMP_URL',
      registers,
    }),
  };
  // absent in processes that do not know the value: a 0 would be misleading
  for (const gauge of [metrics.logsHalted, metrics.timestampAge]) gauge.remove();
  return metrics;
}

export type ProofMetrics = ReturnType<typeof createProofMetrics>;
