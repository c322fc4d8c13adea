/**
 * Fingerprints of the keys that all processes must share. A different key causes no error: an erased visitor is no longer
 * recognized, or a log is signed with the wrong key. So Postgres stores which keys it is used with.
 */
import { hkdfSync } from 'node:crypto';
import type { KeyName, OwnKey } from '#libs/base/db/key-fingerprints';
import type { Values } from './settings.ts';

/**
 * The fingerprints of those `wanted` keys that are set and in use. `withPrevious`: those whose `_PREVIOUS` setting counts.
 */
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
  // hex digits of either case are the same key; the key for addresses is text
  const bytes = name === 'IP_HASH_KEY' ? Buffer.from(key) : Buffer.from(key, 'hex');
  return Buffer.from(hkdfSync('sha256', bytes, '', `assent fingerprint ${name}`, 16)).toString('hex');
}
