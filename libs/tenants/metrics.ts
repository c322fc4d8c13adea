/** Metrics of acts about reads of the log. */
import { Counter, type Registry } from 'prom-client';

export const createTenantMetrics = (register: Registry) => ({
  logReadsLost: new Counter({
    name: 'assent_log_reads_lost_total',
    help: 'Acts of reading the log that were never written, because Postgres did not take them',
    registers: [register],
  }),
});

export type TenantMetrics = ReturnType<typeof createTenantMetrics>;
