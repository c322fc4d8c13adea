/** The bench's own programs, each a process: the load generator and the references. */
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { nodeFlags } from '../stack/assent-process.ts';
import { root } from '../stack/paths.ts';
import { spawnTethered, type Tethered } from '../stack/tether.ts';
import type { Load, LoadResult } from './client.ts';
import type { Figures } from './figures.ts';
import type { PersistLoad } from './persist.ts';
import type { Stack } from './stack.ts';

/** Under the same flags as Assent's own processes. */
function startProgram(name: string, input: object): Tethered {
  const file = path.join(root, 'scripts/bench', `${name}.ts`);
  const args = [...nodeFlags, '--import', 'tsx', file, JSON.stringify(input)];
  const env = { PATH: process.env.PATH };
  return spawnTethered(process.execPath, args, { cwd: root, env, stdout: 'pipe', stderr: 'inherit' });
}

const resultOf = async <Result>({ child }: Tethered): Promise<Result> =>
  JSON.parse(await text(child.stdout ?? Readable.from([])));

export function startLoad(load: Load) {
  const client = startProgram('client', load);
  const result = resultOf<LoadResult>(client);
  // who stops a load does not wait for its result
  result.catch(() => {});
  const { pid, stop, child } = client;
  /** Early: its result is that of what was sent. */
  const end = () => {
    child.kill('SIGTERM');
    return result;
  };
  return { pid, pause: () => child.kill('SIGSTOP'), resume: () => child.kill('SIGCONT'), result, end, stop };
}

/** One in a thousand may fail: a store on a machine that others keep busy is now and then too late. */
export function expectAnswers({ answered, failed }: LoadResult): void {
  if (failed > answered / 1_000) throw new Error(`${failed} of ${answered + failed} requests failed`);
}

/** Rejects when too many requests failed. */
export async function load(wanted: Load): Promise<LoadResult> {
  const result = await startLoad(wanted).result;
  expectAnswers(result);
  return result;
}

/** Default: into all its domains. */
export function persistAlone(stack: Stack, wanted: Partial<PersistLoad> & { records: number }): Promise<Figures> {
  const { databaseUrl, domainIds, pids } = stack;
  const load: PersistLoad = { databaseUrl, domainIds, postgres: pids.Postgres, ...wanted };
  return resultOf(startProgram('persist', load));
}

/** Resolves once bare Koa listens. */
export async function startBare(secret: string) {
  const { child, pid, stop } = startProgram('bare', { secret });
  for await (const line of child.stdout ?? []) {
    return { pid, baseUrl: `http://127.0.0.1:${JSON.parse(String(line)).port}`, stop };
  }
  throw new Error('bare Koa ended before it was ready');
}
