/** Checks that a log only grew between two checkpoints: reads neither settings nor stores. */
import { Command } from 'commander';
import { isJson, print } from '#libs/base/cli/session';
import { sha256 } from '#libs/base/sha256';
import { verifyEd25519 } from '../ed25519.ts';
import { openTwo, requireContinuation, type TwoCheckpoints } from '../tree/check-consistency.ts';
import { parseObject } from '../tree/fields.ts';
import { ProofError } from '../tree/proof-error.ts';
import { collect, readFile, readKeys } from './verify.ts';

interface Options {
  key: string[];
  proof?: string;
  api?: string;
  domain?: string;
  token?: string;
}

const crypto = { sha256, verifyEd25519 };
/** Milliseconds; the API responds within five seconds. */
const patience = 10_000;

export function verifyConsistencyCommand(): Command {
  return new Command('verify-consistency')
    .description('check that the newer checkpoint continues the older one: exit 0 if it does, 1 if not, and why')
    .argument('<old>', 'the older checkpoint, as …/log/checkpoint gave it')
    .argument('<new>', 'the newer checkpoint')
    .requiredOption('--key <key>', 'verifier key, or a file of them; may be repeated', collect)
    .option('--proof <file>', 'what …/log/consistency?from&to answered')
    .option('--api <url>', 'where to ask for it instead, with --domain and --token')
    .option('--domain <domain>', 'whose log it is')
    .option('--token <token>', 'an access token with the scope read')
    .action(async (old: string, recent: string, options: Options, self: Command) => {
      const textOf = (file: string) => new TextDecoder().decode(readFile(file));
      const keys = options.key.flatMap(readKeys);
      try {
        const two = openTwo(textOf(old), textOf(recent), keys, crypto);
        const isOne = two.older.size === two.newer.size;
        const proof = isOne ? undefined : options.proof ? textOf(options.proof) : await askFor(two, options);
        requireContinuation(two, proof === undefined ? undefined : parseObject(proof, 'The proof'), crypto);
        print(self, { holds: true, log: two.older.origin, from: two.older.size, to: two.newer.size });
      } catch (error) {
        if (!(error instanceof ProofError)) throw error;
        if (!isJson(self)) throw new Error(`${recent} is no continuation of ${old}: ${error.message}`);
        process.exitCode = 1;
        print(self, { holds: false, why: error.message });
      }
    });
}

async function askFor({ older, newer }: TwoCheckpoints, { api, domain, token }: Options): Promise<string> {
  if (!api || !domain || !token) throw new Error('give --proof, or --api with --domain and --token');
  const log = /\/([1-9][0-9]*)$/.exec(older.origin.slice(older.origin.indexOf(domain) + domain.length))?.[1] ?? '1';
  const query = new URLSearchParams({ from: String(older.size), to: String(newer.size), log });
  const target = `${api.replace(/\/$/, '')}/v1/consent/${encodeURIComponent(domain)}/log/consistency?${query}`;
  const response = await fetch(target, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: AbortSignal.timeout(patience),
  }).catch((error: unknown) => {
    throw new Error(`${api} does not answer: ${error instanceof Error ? error.message : error}`);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${api} answered ${response.status}: ${text.slice(0, 300)}`);
  return text;
}
