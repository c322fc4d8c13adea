/** What a measurement is, how much of it a run does, and what several of them ask. */
import { untilTrue } from '../stack/wait.ts';
import type { Load } from './client.ts';
import { cpuTime } from './cpu-time.ts';
import type { Figures, Round, Target } from './figures.ts';
import { load } from './programs.ts';
import type { Server, Stack } from './stack.ts';

/** Prepares a build, and gives back what measures it once. */
type Prepare = (stack: Stack, scale: Scale) => Promise<Round>;

export interface Measurement {
  name: string;
  about: string;
  targets: Record<string, Target>;
  figure: Prepare;
  /** measured beside it, under the same names */
  reference?: Prepare;
}

export interface Scale {
  rounds: number;
  /** of one round */
  seconds: number;
  /** records that wait for the worker; the log that `pages` reads is ten times as long */
  records: number;
  /** of what is measured in many combinations, some */
  isQuick?: true;
}

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
