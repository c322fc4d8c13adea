/** Checks a proof offline: reads the file and the keys, and neither settings nor stores. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { isJson } from '#libs/base/cli/session';
import { visible } from '#libs/base/cli/visible';
import { sha256 } from '#libs/base/sha256';
import { verifyEd25519 } from '../ed25519.ts';
import { parseVerifierKeys, type Verified } from '../tree/check-file.ts';
import { checkpointFacts, type Fact, factsOf, headline, limits, opensslCommands } from '../tree/facts.ts';
import { examine, type Finding, largestFile, type Recognized, recognize } from '../tree/recognize.ts';
import type { VerifierKey } from '../tree/verifier-key.ts';
import { lineOf, type RecordVerdict, summaryOf, visitorLimit, worstFirst } from '../tree/visitor-download.ts';

export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      "check a proof file, a bundle, a checkpoint or a visitor's download offline: exit 0 if it holds, 1 if not, and why",
    )
    .argument('<file>', 'as from …/records/<id>/proof, …/log/checkpoint or …/visitors/lookup')
    .requiredOption('--key <key>', 'verifier key, or a file of them; may be repeated', collect)
    .action((file: string, { key }: { key: string[] }, self: Command) => {
      const keys = key.flatMap(readKeys);
      const found = recognizeFile(file);
      if (found.kind === 'nothing') {
        process.exitCode = 1;
        if (!isJson(self)) throw new Error(`${file} is not a proof: ${found.why}`);
        printJson({ holds: false, kind: null, why: found.why });
        return;
      }
      const finding = examine(found, keys, { sha256, verifyEd25519 });
      if (!finding.verdict.holds) process.exitCode = 1;
      if (isJson(self)) printJson(machineForm(finding));
      else printFinding(finding, file);
    });
}

function recognizeFile(file: string): Recognized {
  const content = readUpTo(file, largestFile);
  return content ? recognize(content) : { kind: 'nothing', why: 'It is larger than any proof.' };
}

export const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

/** Reads a file with keys, a checkpoint or hashes. */
export function readFile(file: string): Uint8Array {
  const content = readUpTo(file, largestFile);
  if (!content) throw new Error(`${file} is too large`);
  return content;
}

/** Undefined if there are more than `most` bytes. A pipe or a device has no known size, and may never end. */
function readUpTo(file: string, most: number): Uint8Array | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    if (fstatSync(opened).size > most) return undefined;
    const piece = Buffer.allocUnsafe(1024 * 1024);
    const pieces: Uint8Array[] = [];
    for (let length = 0; length <= most; ) {
      const read = readSync(opened, piece);
      if (read === 0) return Buffer.concat(pieces);
      pieces.push(Uint8Array.from(piece.subarray(0, read)));
      length += read;
    }
    return undefined;
  } catch (error) {
    throw new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** A key has two plus signs and no line break; anything else is a file's name. */
export function readKeys(given: string): VerifierKey[] {
  const text = /^[^+\n]+\+[^+\n]+\+/.test(given) ? given : new TextDecoder().decode(readFile(given));
  const keys = parseVerifierKeys(sha256, text);
  if (keys.length === 0) throw new Error(`there is no verifier key in ${given}`);
  return keys;
}

function printFinding({ kind, verdict }: Finding, file: string): void {
  if (kind === 'visitor') {
    print(
      [summaryOf(verdict), '', ...worstFirst(verdict.records).map((record) => `${record.id}  ${lineOf(record)}`)],
      visitorLimit,
    );
  } else if (!verdict.holds) {
    throw new Error(`${file} does not hold: ${verdict.why}`);
  } else if (kind === 'checkpoint') {
    print(['The checkpoint holds: it is signed with this key.', '', ...table(checkpointFacts(verdict))]);
  } else {
    const commands = opensslCommands(verdict, quoted(file)).map((line) => `  ${line}`);
    const stamped = commands.length > 0 ? ['', "To check the time-stamp's signature:", ...commands] : [];
    print([`The proof holds. ${headline(verdict)}`, '', ...table(factsOf(verdict)), ...stamped]);
  }
}

function print(lines: string[], ...more: string[]): void {
  const notProven = ['', 'What this does not prove:', ...[...more, ...limits].map((line) => `- ${line}`)];
  process.stdout.write(`${[...lines, ...notProven].map(visible).join('\n')}\n`);
}

function table(facts: Fact[]): string[] {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

const quoted = (file: string): string => `'${path.normalize(file).replaceAll("'", "'\\''")}'`;

function printJson(response: object): void {
  process.stdout.write(`${visible(JSON.stringify(response))}\n`);
}

function machineForm({ kind, verdict }: Finding): object {
  if (kind === 'visitor') {
    const { holds, visitorId, records } = verdict;
    return { holds, kind, visitorId, summary: summaryOf(verdict), records: records.map(recordForm) };
  }
  if (kind === 'checkpoint' || !verdict.holds) return { kind, ...verdict };
  return { kind, ...provenForm(verdict) };
}

const recordForm = (record: RecordVerdict): object =>
  record.holds ? { id: record.id, ...provenForm(record) } : record;

/** The result as JSON: entry and opened texts as objects, bytes as text. */
function provenForm({ proven, entry, circumstances, personal, notice, timestamp, unproven }: Verified) {
  const { index, size, origin, signedBy } = proven;
  return {
    holds: true,
    log: origin,
    position: index,
    size,
    signedBy,
    entry: JSON.parse(proven.entry),
    type: entry.type,
    circumstances,
    private: personal,
    notice,
    timestamp: timestamp && {
      size: timestamp.checkpoint.size,
      digest: timestamp.digest,
      isOfProof: timestamp.isOfProof,
      isSignatureChecked: false,
    },
    unproven,
  };
}
