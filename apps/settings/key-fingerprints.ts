/**
 * Fingerprints of the keys that all processes have to share. Under another key nothing fails: an erased visitor is not
 * recognized any more, or a log is signed by a stranger. So Postgres remembers which keys it is used with.
 */
import { hkdfSync } from 'node:crypto';
import type { KeyName, OwnKey } from '#libs/base/db/key-fingerprints';
import type { Values } from './settings.ts';

/** Of those keys among `wanted` that are set. `withPrevious`: of which the process reads the one before, too. */
export function fingerprintsOf(values: Values, wanted: KeyName[], withPrevious: KeyName[]): OwnKey[] {
  return wanted.flatMap((name) => {
    const key = values[name];
    if (key === undefined || !isUsed(name, values)) return [];
    const before = values[`${name}_PREVIOUS` as const];
    const previous = before === undefined ? null : fingerprint(name, before);
    return [
      { name, fingerprint: fingerprint(name, key), previous: withPrevious.includes(name) ? previous : undefined },
    ];
  });
}

function isUsed(name: KeyName, { IP_MODE, SEAL_SECONDS }: Values): boolean {
  if (name === 'IP_HASH_KEY') return IP_MODE === 'hashed';
  return name !== 'LOG_KEY' || SEAL_SECONDS > 0;
}

function fingerprint(name: KeyName, key: string): string {
  // digits of either case are the same key; an address is hashed under a text
  const bytes = name === 'IP_HASH_KEY' ? Buffer.from(key) : Buffer.from(key, 'hex');
  return Buffer.from(hkdfSync('sha256', bytes, '', `assent fingerprint ${name}`, 16)).toString('hex');
}
