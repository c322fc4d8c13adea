/**
 * What a record adds to the log: its secret, and the leaf that commits to it. Every record pays for this, so its five hashes
 * are made in one place of memory. Tests hold it against `entryOf`, which says the same in plain words.
 */
import { hash, randomFillSync } from 'node:crypto';
import { timeOf } from '#libs/contract/uuid';
import { circumstancesText, privateText, recordEntry } from '#libs/merkle/entry';
import type { Unsealed } from '#libs/store/logs/unsealed';
import type { Added } from './grow.ts';

const labels = { circumstances: Buffer.from('circumstances'), private: Buffer.from('private') };
/** a salt, or the byte before an entry, and a text */
let scratch = Buffer.allocUnsafe(64 * 1_024);

/** `unsealed`: of one domain and epoch, in the order of their ids. */
export function toAdded(domainId: string, epoch: number, unsealed: Unsealed[]): Added {
  const secrets = randomFillSync(Buffer.allocUnsafe(unsealed.length * 16));
  const ids = Buffer.from(
    unsealed
      .map(({ id }) => id)
      .join('')
      .replaceAll('-', ''),
    'hex',
  );
  const leaves = Buffer.allocUnsafe(unsealed.length * 32);
  unsealed.forEach((record, at) => {
    const secret = secrets.subarray(at * 16, at * 16 + 16);
    const { id } = record;
    const entry = recordEntry(
      {
        id,
        domainId,
        decision: record.decision,
        decidedAt: new Date(timeOf(id)).toISOString(),
        receivedAt: toRfc3339(record.receivedAt),
        source: record.source,
        gpc: record.gpc,
        bot: record.bot,
      },
      {
        circumstances: commit('circumstances', secret, circumstancesText(record)),
        private: commit('private', secret, privateText(record)),
      },
    );
    scratch[0] = 0;
    leaves.write(hash('sha256', write(entry, 1), 'binary'), at * 32, 'latin1');
  });
  return { epoch, ids, secrets, leaves };
}

function commit(label: keyof typeof labels, secret: Buffer, text: string): string {
  const prefix = labels[label];
  scratch.set(prefix);
  scratch.set(secret, prefix.length);
  const salt = hash('sha256', scratch.subarray(0, prefix.length + 16), 'binary');
  scratch.write(salt, 0, 16, 'latin1');
  return hash('sha256', write(text, 16), 'base64url');
}

/** What stands before `at`, and then the text. */
function write(text: string, at: number): Buffer {
  // three bytes a code unit is the most that UTF-8 takes
  if (scratch.length < at + 3 * text.length) {
    const larger = Buffer.allocUnsafe(at + 3 * text.length);
    scratch.copy(larger, 0, 0, at);
    scratch = larger;
  }
  return scratch.subarray(0, at + scratch.write(text, at));
}

/** Milliseconds; Postgres leaves out zeros at the end: `2026-11-22 19:07:22.1+00`. */
function toRfc3339(text: string): string {
  const [time = '', fraction = ''] = text.replace('+00', '').split('.');
  return `${time.replace(' ', 'T')}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}
