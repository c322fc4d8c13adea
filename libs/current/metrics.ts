import { Counter, type Registry } from 'prom-client';

/** Without visitor ids. */
export const createCurrentMetrics = (register: Registry) => ({
  currentLookUps: new Counter({
    name: 'assent_current_lookups_total',
    help: 'Visitors whose current decision was asked for, by result: valid, none, policy_changed or expired',
    labelNames: ['result'] as const,
    registers: [register],
  }),
});

export type CurrentMetrics = ReturnType<typeof createCurrentMetrics>;
