/** What a record adds to the log: its secret, and the leaf that commits to it. */
import { randomFillSync } from 'node:crypto';
import { entryOf } from '#libs/merkle/entry';
import { leafHash } from '#libs/merkle/hash';
import type { Unsealed } from '#libs/store/logs/unsealed';
import type { Added } from './grow.ts';
import { sha256 } from './hashing.ts';

/** `unsealed`: of one domain and epoch, in the order of their ids. */
export function toAdded(epoch: number, unsealed: Unsealed[]): Added {
  const secrets = randomFillSync(Buffer.allocUnsafe(unsealed.length * 16));
  const ids = Buffer.allocUnsafe(unsealed.length * 16);
  const leaves = Buffer.allocUnsafe(unsealed.length * 32);
  unsealed.forEach(({ record }, at) => {
    const secret = secrets.subarray(at * 16, at * 16 + 16);
    ids.write(record.id.replaceAll('-', ''), at * 16, 'hex');
    leaves.set(leafHash(sha256, Buffer.from(entryOf(sha256, record, secret))), at * 32);
  });
  return { epoch, ids, secrets, leaves };
}
