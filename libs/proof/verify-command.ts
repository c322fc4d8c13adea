/** Checks a proof offline: reads the file and the keys, and neither settings nor stores. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { isJson } from '#libs/base/cli/session';
import { visible } from '#libs/base/cli/visible';
import { sha256 } from '#libs/base/sha256';
import { verifyEd25519 } from './ed25519.ts';
import { checkFile, parseVerifierKeys, type Verdict } from './tree/check-file.ts';
import { factsOf, headline, limits, opensslCommands } from './tree/facts.ts';
import type { VerifierKey } from './tree/verifier-key.ts';

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check a proof file or a bundle offline: exit 0 if it holds, 1 if not, and why')
    .argument('<file>', 'as from …/records/<id>/proof')
    .requiredOption('--key <key>', 'verifier key, or a file of them; may be repeated', collect)
    .action((file: string, { key }: { key: string[] }, self: Command) => {
      const verdict = checkFile(readFile(file), key.flatMap(readKeys), { sha256, verifyEd25519 });
      if (isJson(self)) printJson(verdict);
      else if (verdict.holds) printWords(verdict, file);
      else throw new Error(`${file} does not hold: ${verdict.why}`);
      if (!verdict.holds) process.exitCode = 1;
    });
}

const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A key has two plus signs and no line end; anything else names a file. */
function readKeys(given: string): VerifierKey[] {
  const text = /^[^+\n]+\+[^+\n]+\+/.test(given) ? given : new TextDecoder().decode(readFile(given));
  const keys = parseVerifierKeys(sha256, text);
  if (keys.length === 0) throw new Error(`there is no verifier key in ${given}`);
  return keys;
}

function printWords(verdict: VerdictThatHolds, file: string): void {
  const facts = factsOf(verdict);
  const width = Math.max(...facts.map(([name]) => name.length));
  const commands = opensslCommands(verdict, quoted(file));
  const lines = [
    `The proof holds. ${headline(verdict)}`,
    '',
    ...facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    ...(commands.length > 0
      ? ['', "To check the time-stamp's signature:", ...commands.map((line) => `  ${line}`)]
      : []),
    '',
    'What this does not prove:',
    ...limits.map((line) => `- ${line}`),
  ];
  process.stdout.write(`${lines.map(visible).join('\n')}\n`);
}

const quoted = (file: string): string => `'${path.normalize(file).replaceAll("'", "'\\''")}'`;

function printJson(verdict: Verdict): void {
  process.stdout.write(`${visible(JSON.stringify(verdict.holds ? machineForm(verdict) : verdict))}\n`);
}

/** The entry and the opened texts as objects, bytes as texts. */
function machineForm({ proven, entry, circumstances, personal, notice, timestamp, unproven }: VerdictThatHolds) {
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

type VerdictThatHolds = Extract<Verdict, { holds: true }>;
