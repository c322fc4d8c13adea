/** What is measured of signing in. */
import { Counter, type Registry } from 'prom-client';

/** What one signs in with. */
const means = ['password', 'passkey', 'link', 'session'] as const;

export const createPeopleMetrics = (register: Registry) => {
  const failedSignIns = new Counter({
    name: 'assent_failed_sign_ins_total',
    help: 'Sign-ins with wrong credentials, by what was used',
    labelNames: ['with'] as const,
    registers: [register],
  });
  // so that a rate sees the first one
  for (const name of means) failedSignIns.inc({ with: name }, 0);
  const passwordHashes = new Counter({
    name: 'assent_password_hashes_total',
    help: 'Passwords that were hashed, to check or to store them',
    registers: [register],
  });
  return { failedSignIns, passwordHashes };
};

export type PeopleMetrics = ReturnType<typeof createPeopleMetrics>;
