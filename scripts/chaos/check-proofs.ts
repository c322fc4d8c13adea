/** Checks the proofs that people take home (I8): asked of an API, and verified with the log's public keys alone. */
import { checkFile, parseVerifierKeys, type Verdict } from '#libs/merkle/check-file';
import type { VerifierKey } from '#libs/merkle/verifier-key';
import { verifyEd25519 } from '#libs/runtime/ed25519';
import { sha256 } from '#libs/runtime/sha256';
import { type Site, signToken } from '../stack/client.ts';
import { waitUntil } from '../stack/wait.ts';
import type { ChaosStack } from './stack.ts';

/** A bundle of a record, and its proof as a file. */
const forms = ['application/json', 'text/plain'];
/** records of each domain */
const sample = 5;
/** milliseconds */
const patience = 5_000;

export interface Asking {
  stack: Pick<ChaosStack, 'jwtSecret' | 'sql'>;
  baseUrl: string;
  site: Site;
}

/** `path` is below the domain. */
const ask = ({ stack, baseUrl, site }: Asking, path: string, accept: string): Promise<Response> => {
  const authorization = `Bearer ${signToken(site.organizationId, stack.jwtSecret)}`;
  const signal = AbortSignal.timeout(10_000);
  return fetch(`${baseUrl}/v1/consent/${site.domainId}/${path}`, { headers: { authorization, accept }, signal });
};

export const askForProof = (asking: Asking, recordId: string, accept: string): Promise<Response> =>
  ask(asking, `records/${recordId}/proof`, accept);

/** Asks again where the answer is 503, as it says: PgBouncer refuses new connections for a while where a login failed. */
export async function untilAnswered(request: () => Promise<Response>): Promise<Response> {
  let answer = await request();
  const isAnswered = async () => {
    if (answer.status === 503) answer = await request();
    return answer.status !== 503;
  };
  await waitUntil(isAnswered, { deadlineMs: patience, intervalMs: 200 });
  return answer;
}

/** Of all logs that the domain has had. */
export async function askForKeys(asking: Asking): Promise<VerifierKey[]> {
  const logs = await asking.stack.sql(
    (sql) => sql<{ log: number }[]>`
      select log from logs join domains on number = domain_number where id = ${asking.site.domainId}`,
  );
  const asked = logs.map(async ({ log }) => {
    const answer = await untilAnswered(() => ask(asking, `log/key?log=${log}`, 'text/plain'));
    if (!answer.ok) throw new Error(`log/key is answered ${answer.status}`);
    return parseVerifierKeys(sha256, await answer.text());
  });
  return (await Promise.all(asked)).flat();
}

/** Why the file does not prove that the record is in the log; undefined where it does. */
export function whyNotProven(file: Uint8Array, keys: VerifierKey[], recordId: string): string | undefined {
  const verdict: Verdict = checkFile(file, keys, { sha256, verifyEd25519 });
  if (!verdict.holds) return verdict.why;
  const { entry } = verdict;
  return entry.type === 'record' && entry.id === recordId ? undefined : 'it is of something else';
}

/** What is wrong, in words. */
export async function checkProofs(stack: ChaosStack): Promise<string[]> {
  const api = stack.processes.findLast(({ app, process }) => app === 'api' && process.running());
  if (!api) return ['no API is there to ask for proofs'];
  const wrong: string[] = [];
  for (const site of stack.sites) {
    const asking = { stack, baseUrl: api.baseUrl, site };
    const records = await stack.sql(
      (sql) => sql<{ id: string }[]>`
        select r.id from records r join domains d on d.number = domain_number where d.id = ${site.domainId}
        order by random() limit ${sample}`,
    );
    const keys = records.length > 0 ? await askForKeys(asking) : [];
    for (const [at, { id }] of records.entries()) {
      const answer = await untilAnswered(() => askForProof(asking, id, forms[at % forms.length] ?? ''));
      const file = new Uint8Array(await answer.arrayBuffer());
      const why = answer.ok ? whyNotProven(file, keys, id) : `it is answered ${answer.status}`;
      if (why) wrong.push(`the proof of ${id} does not hold: ${why}`);
    }
  }
  return wrong;
}
