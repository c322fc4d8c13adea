/**
 * What a record adds to the log: its secret, and the leaf that commits to it. Every record pays for this, so its five
 * hashes are made in one buffer. Tests compare it with `entryOf`, the readable version of the same.
 */
import { hash, randomFillSync } from 'node:crypto';
import { timeOf } from '#libs/base/terms/calendar';
import type { SeenNotice } from '#libs/notices/documents';
import type { UserAgentText } from '#libs/record/references';
import { circumstancesTextWith, mapText, privateText, recordEntry } from '../tree/entry.ts';
import type { Added } from './added.ts';
import type { Unsealed } from './unsealed.ts';

const labels = { circumstances: Buffer.from('circumstances'), private: Buffer.from('private') };
/** reused buffer for what is hashed: a label and a secret, a salt and a text, or a leaf's zero byte and its entry */
let scratch = Buffer.allocUnsafe(64 * 1_024);

/** What records name by number. */
interface Named {
  userAgents: ReadonlyMap<number, UserAgentText>;
  notices: ReadonlyMap<number, SeenNotice>;
}

/** `unsealed`: of one domain and epoch, in the order of their ids. */
export function toAdded(domainId: string, epoch: number, unsealed: Unsealed[], { userAgents, notices }: Named): Added {
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
    const { id, visitorId, ip, userAgentNumber, noticeNumber, pageUrl, metadata } = record;
    const userAgent = userAgentNumber === null ? null : userAgents.get(userAgentNumber)?.text;
    const entry = recordEntry(
      {
        id,
        domainId,
        decision: record.decision,
        decidedAt: isoOf(timeOf(id)),
        receivedAt: toRfc3339(record.receivedAt),
        importedAt: record.importedAt && toRfc3339(record.importedAt),
        source: record.source,
        notice: noticeNumber === null ? null : notices.get(noticeNumber)?.notice,
        gpc: record.gpc,
        bot: record.bot,
      },
      {
        circumstances: commit(
          'circumstances',
          secret,
          circumstancesTextWith(preferencesText(record.preferences), record),
        ),
        private: commit('private', secret, privateText({ visitorId, ip, userAgent, pageUrl, metadata })),
      },
    );
    scratch[0] = 0;
    leaves.write(hash('sha256', write(entry, 1), 'binary'), at * 32, 'latin1');
  });
  return { epoch, ids, secrets, leaves, texts: [] };
}

function commit(label: keyof typeof labels, secret: Buffer, text: string): string {
  const prefix = labels[label];
  scratch.set(prefix);
  scratch.set(secret, prefix.length);
  const salt = hash('sha256', scratch.subarray(0, prefix.length + 16), 'binary');
  scratch.write(salt, 0, 16, 'latin1');
  return hash('sha256', write(text, 16), 'base64url');
}

/** Writes the text into `scratch` at `at`. Returns everything in `scratch` from its start to the end of that text. */
function write(text: string, at: number): Buffer {
  // three bytes a code unit is the most that UTF-8 takes
  if (scratch.length < at + 3 * text.length) {
    const larger = Buffer.allocUnsafe(at + 3 * text.length);
    scratch.copy(larger, 0, 0, at);
    scratch = larger;
  }
  return scratch.subarray(0, at + scratch.write(text, at));
}

/**
 * Postgres' text of a time as RFC 3339, cut to milliseconds. Postgres leaves out zeros at the end: `2026-11-22
 * 19:07:22.1+00`.
 */
function toRfc3339(text: string): string {
  const milliseconds = text.slice(20, -3).slice(0, 3).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}

let second = { number: 0, text: '1970-01-01T00:00:00.' };
/** A piece's records fall into few seconds, and formatting a time takes as long as hashing an entry. */
function isoOf(time: number): string {
  const number = Math.floor(time / 1_000);
  if (number !== second.number) second = { number, text: new Date(number * 1_000).toISOString().slice(0, 20) };
  return `${second.text}${String(time % 1_000).padStart(3, '0')}Z`;
}

/** preferences as Postgres writes them → as the log does; a website has few different ones */
const canonical = new Map<string, string>();
const remembered = 1_000;

function preferencesText(stored: string | null): string | undefined {
  if (stored === null) return undefined;
  const known = canonical.get(stored);
  if (known !== undefined) return known;
  const text = mapText(JSON.parse(stored));
  if (canonical.size === remembered) canonical.clear();
  canonical.set(stored, text);
  return text;
}
