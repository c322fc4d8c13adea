/** Checks the promise I8: one position for each record, no gaps, and a tree that has only grown under signed roots. */
import { base64, equal } from '#libs/merkle/bytes';
import { parseCheckpoint } from '#libs/merkle/checkpoint';
import { sealedEntryOf } from '#libs/merkle/entry';
import { append, emptyFrontier, rootOf } from '#libs/merkle/frontier';
import { leafHash } from '#libs/merkle/hash';
import { parseNote, verifyNote } from '#libs/merkle/note';
import { parseVerifierKey } from '#libs/merkle/verifier-key';
import { verifyEd25519 } from '#libs/runtime/ed25519';
import { repeat } from '#libs/runtime/repeat';
import { sha256 } from '#libs/runtime/sha256';
import { readSealed, type SealedEntry } from '#libs/store/logs/sealed';
import type { ChaosStack } from './stack.ts';

interface StoredLog {
  domainNumber: number;
  log: number;
  origin: string;
  size: number;
  checkpoint: string;
  keys: string[];
}

const listLogs = (stack: ChaosStack): Promise<StoredLog[]> =>
  stack.sql(
    (sql) => sql<StoredLog[]>`
      select domain_number as "domainNumber", log, origin, size, checkpoint,
        (
          select coalesce(json_agg(verifier_key), '[]') from log_keys
          where log_keys.domain_number = logs.domain_number and log_keys.log = logs.log
        ) as keys
      from logs where checkpoint is not null order by 1, 2`,
  );

/** Every checkpoint that was to be seen while a drill ran, and those whose entries went with their server. */
export interface Checkpoints {
  seen: Set<string>;
  lost: Set<string>;
}

/** `look`: beside the looks of every quarter of a second, one now. */
export function watchCheckpoints(stack: ChaosStack): Checkpoints & { look(): Promise<void>; stop(): Promise<void> } {
  const seen = new Set<string>();
  const look = async () => {
    for (const { checkpoint } of await listLogs(stack)) seen.add(checkpoint);
  };
  // Postgres may be what the drill takes away
  const stop = repeat(250, look, () => {});
  return { seen, lost: new Set(), look, stop };
}

/** How many records no checkpoint covers yet. */
export async function countUnsealed(stack: ChaosStack): Promise<number> {
  const [row] = await stack.sql(
    (sql) => sql<{ n: number }[]>`
      select (
        (select count(*) from records)
        - (select coalesce(sum(checkpoint_size), 0) from logs)
        + (select count(*) from log_texts join logs using (domain_number, log) where position < checkpoint_size)
      )::int as n`,
  );
  return row?.n ?? 0;
}

/** What is wrong, in words. */
export async function checkLogs(stack: ChaosStack, { seen, lost }: Checkpoints): Promise<string[]> {
  const wrong = forksAmong(seen);
  const notes = [...seen].filter((note) => !lost.has(note));
  const places = new Map<string, number>();
  for (const log of await listLogs(stack)) {
    const { origin, size, keys } = log;
    const entries = await stack.sql((sql) => readSealed(sql, log, { from: 0, below: size }));
    if (entries.length !== size) wrong.push(`${origin} has ${entries.length} entries, not ${size}`);
    wrong.push(...entries.flatMap((entry, at) => wrongWith(entry, at).map((what) => `${origin} ${at}: ${what}`)));
    for (const { id, text } of entries) {
      const key = `${log.domainNumber} ${id}`;
      if (text === null) places.set(key, (places.get(key) ?? 0) + 1);
    }
    const verifiers = keys.map((key) => parseVerifierKey(sha256, key));
    const own = notes.concat(log.checkpoint).filter((note) => note.startsWith(`${origin}\n`));
    const roots = rootsOf(entries);
    for (const note of own) {
      const checkpoint = parseCheckpoint(parseNote(note).text);
      const root = roots(checkpoint.size);
      if (!verifyNote(note, verifiers, verifyEd25519).holds) wrong.push(`${origin}: a checkpoint is not signed`);
      if (!root || !equal(root, checkpoint.root)) {
        wrong.push(`${origin}: at ${checkpoint.size} the root is not ${base64(checkpoint.root)} any more`);
      }
    }
  }
  const twice = [...places.values()].filter((count) => count > 1).length;
  if (twice > 0) wrong.push(`${twice} records have two positions`);
  return wrong;
}

/** Two trees of one size, both signed. */
function forksAmong(notes: Iterable<string>): string[] {
  const roots = new Map<string, string>();
  return [...notes].flatMap((note) => {
    const [origin = '', size = '', root = ''] = note.split('\n');
    const other = roots.get(`${origin} ${size}`);
    roots.set(`${origin} ${size}`, root);
    return other === undefined || other === root ? [] : [`${origin}: two trees of size ${size} are signed`];
  });
}

function wrongWith({ position, record, secret, erased, leaf, text }: SealedEntry, at: number): string[] {
  if (position !== at) return [`a gap before ${position}`];
  const entry = text ?? (record && sealedEntryOf(sha256, record, { secret, erased }));
  if (entry === undefined) return ['its record is missing'];
  const expected = leafHash(sha256, Buffer.from(entry));
  return equal(expected, leaf) ? [] : ['it is not what was sealed'];
}

/** The root at any size. */
function rootsOf(entries: SealedEntry[]): (size: number) => Uint8Array | undefined {
  const frontier = emptyFrontier();
  const roots = [rootOf(sha256, frontier)];
  for (const { leaf } of entries) {
    append(sha256, frontier, leaf);
    roots.push(rootOf(sha256, frontier));
  }
  return (size) => roots[size];
}
