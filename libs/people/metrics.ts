/** What is measured of signing in. */
import { Counter, type Registry } from 'prom-client';

export const createPeopleMetrics = (register: Registry) => ({
  passwordHashes: new Counter({
    name: 'assent_password_hashes_total',
    help: 'Passwords that were hashed, to check or to store them',
    registers: [register],
  }),
  failedSignIns: new Counter({
    name: 'assent_failed_sign_ins_total',
    help: 'Sign-ins with wrong credentials, by what was used',
    labelNames: ['with'] as const,
    registers: [register],
  }),
});

export type PeopleMetrics = ReturnType<typeof createPeopleMetrics>;
