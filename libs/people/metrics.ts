import { Counter, type Registry } from 'prom-client';

export const createPeopleMetrics = (register: Registry) => {
  const failedSignIns = new Counter({
    name: 'assent_failed_sign_ins_total',
    help: 'Sign-ins with wrong credentials, by what was used',
    labelNames: ['with'] as const,
    registers: [register],
  });
  // a rate needs a zero before the first failure
  for (const credential of ['password', 'passkey', 'link', 'session']) failedSignIns.inc({ with: credential }, 0);
  const passwordHashes = new Counter({
    name: 'assent_password_hashes_total',
    help: 'Passwords that were hashed, to check or to store them',
    registers: [register],
  });
  return { failedSignIns, passwordHashes };
};

export type PeopleMetrics = ReturnType<typeof createPeopleMetrics>;
