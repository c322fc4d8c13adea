/** Checks a proof offline: reads the file and the keys, and neither settings nor stores. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { isJson } from '#libs/base/cli/session';
import { visible } from '#libs/base/cli/visible';
import { sha256 } from '#libs/base/sha256';
import { verifyEd25519 } from './ed25519.ts';
import { type Proven, parseVerifierKeys } from './tree/check-file.ts';
import { checkpointFacts, type Fact, factsOf, headline, limits, opensslCommands } from './tree/facts.ts';
import { examine, type Finding, largestFile, type Recognized, recognize } from './tree/recognize.ts';
import type { VerifierKey } from './tree/verifier-key.ts';
import { lineOf, type RecordVerdict, summaryOf, visitorLimit } from './tree/visitor-answer.ts';

export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      "check a proof file, a bundle, a checkpoint or a visitor's answer offline: exit 0 if it holds, 1 if not, and why",
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
  const { size } = sizeOf(file);
  return size > largestFile ? { kind: 'nothing', why: 'It is larger than any proof.' } : recognize(readFile(file));
}

function sizeOf(file: string): { size: number } {
  try {
    return statSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

export const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

export function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

const unreadable = (file: string, error: unknown): Error =>
  new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);

/** A key has two plus signs and no line end; anything else names a file. */
export function readKeys(given: string): VerifierKey[] {
  const text = /^[^+\n]+\+[^+\n]+\+/.test(given) ? given : new TextDecoder().decode(readFile(given));
  const keys = parseVerifierKeys(sha256, text);
  if (keys.length === 0) throw new Error(`there is no verifier key in ${given}`);
  return keys;
}

function printFinding({ kind, verdict }: Finding, file: string): void {
  if (kind === 'visitor') {
    print(
      [summaryOf(verdict), '', ...verdict.records.map((record) => `${record.id}  ${lineOf(record)}`)],
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

function printJson(answer: object): void {
  process.stdout.write(`${visible(JSON.stringify(answer))}\n`);
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

/** The entry and the opened texts as objects, bytes as texts. */
function provenForm({ proven, entry, circumstances, personal, notice, timestamp, unproven }: Proven) {
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
