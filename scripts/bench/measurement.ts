/** What a measurement is, how much of it a run does, what several of them ask, and the bench's own programs. */
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { persist } from '#libs/record/persist/persist';
import { nodeFlags } from '../stack/assent-process.ts';
import { root } from '../stack/paths.ts';
import { spawnTethered, type Tethered } from '../stack/tether.ts';
import { untilTrue } from '../stack/wait.ts';
import type { Load, LoadResult } from './client.ts';
import { cpuTime, type Figures, figuresOver, look, type Round } from './figures.ts';
import { makeRecord } from './requests.ts';
import type { Server, Stack } from './stack.ts';

/** Prepares a build, and gives back what measures it once. */
type Prepare = (stack: Stack, scale: Scale) => Promise<Round>;

export interface Measurement {
  name: string;
  about: string;
  /** in words, by the names of figures: of the ratio where there is one */
  targets?: Record<string, string>;
  figure: Prepare;
  /** measured beside it, under the same names */
  reference?: Prepare;
}

interface Scale {
  rounds: number;
  /** of one round */
  seconds: number;
  /** records that wait for the worker; the log that `pages` reads is ten times as long */
  records: number;
  /** of what is measured in many combinations, some */
  isQuick?: true;
}

/** of one statement, and statements that are not measured */
const rows = 500;
const warmUp = 20;

export const whole: Scale = { rounds: 3, seconds: 6, records: 200_000 };
export const quick: Scale = { rounds: 1, seconds: 2, records: 10_000, isQuick: true };

/** The reference of what a server answers: Koa alone. */
export const bareKoa =
  (name: string, send: (stack: Stack) => Load['send'] = ({ sites }) => ({ sites })): Prepare =>
  async (stack, { seconds }) =>
    fullLoad(name, await stack.startBare(), { seconds, send: send(stack) });

/** A round: requests a second of a server under all the load it takes, and its CPU time for each. It runs once now. */
export async function fullLoad(name: string, { baseUrl, pid }: Server, wanted: Omit<Load, 'baseUrl'>): Promise<Round> {
  const round = async (): Promise<Figures> => {
    const before = cpuTime(pid);
    const result = await load({ baseUrl, ...wanted });
    return {
      [name]: { value: result.answered / result.seconds, unit: 'requests/s' },
      [`${name}: API`]: { value: (cpuTime(pid) - before) / result.answered, unit: 'µs CPU' },
    };
  };
  await round();
  return round;
}

export async function get({ baseUrl }: Server, path: string, token: string): Promise<Response> {
  const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  return response;
}

/** The first request for an organization's statistics starts to fill its counters into Redis. */
export async function untilFromRedis(server: Server, path: string, token: string): Promise<void> {
  const isFromRedis = async () => (await get(server, path, token)).headers.get('x-stats-source') === 'redis';
  await untilTrue(isFromRedis, 'the statistics come from Redis', { intervalMs: 50 });
}

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

interface Persisting {
  /** of the figures, and what this process is called in them */
  name?: string;
  client?: string;
  /** default: all of the stack */
  domainIds?: string[];
  records: number;
  /** Unix milliseconds over which the records are spread; default: now */
  span?: [from: number, to: number];
}

/** The bare persist statement, 500 rows at a time as the worker sends them: records/s, CPU time, write-ahead log. */
export async function persistAlone(stack: Stack, wanted: Persisting): Promise<Figures> {
  const { db, pids } = stack;
  const { name = 'persist', client = 'client', domainIds = stack.domainIds, records } = wanted;
  const { span: [from, to] = [Date.now(), Date.now()] } = wanted;
  const batches = Array.from({ length: warmUp + Math.ceil(records / rows) }, (_, batch) =>
    Array.from({ length: rows }, (_, row) => {
      const index = batch * rows + row;
      return makeRecord(domainIds, index, from + ((to - from) * index) / (records + warmUp * rows));
    }),
  );
  // the first change of a page after a checkpoint writes the whole page to the log: this is left to the warm-up
  await db.run((sql) => sql`checkpoint`);
  for (const batch of batches.splice(0, warmUp)) await persist(db, batch);
  const logged = await logPosition(stack);
  const used = { [client]: process.pid, Postgres: pids.Postgres };
  const first = look(0, used);
  for (const batch of batches) await persist(db, batch);
  const stored = batches.length * rows;
  const figures = figuresOver(name, [first, look(stored, used)]);
  const log = ((await logPosition(stack)) - logged) / stored;
  return { ...figures, [`${name}: log`]: { value: log, unit: 'bytes' } };
}

/** In bytes. */
async function logPosition({ db }: Stack): Promise<number> {
  const [row] = await db.run(
    (sql) => sql<{ bytes: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as bytes`,
  );
  return row?.bytes ?? Number.NaN;
}

/** Resolves once bare Koa listens. */
export async function startBare(secret: string) {
  const { child, pid, stop } = startProgram('bare', { secret });
  for await (const line of child.stdout ?? []) {
    return { pid, baseUrl: `http://127.0.0.1:${JSON.parse(String(line)).port}`, stop };
  }
  throw new Error('bare Koa ended before it was ready');
}
