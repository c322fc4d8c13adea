/** Load from a process of its own: wrk where it is installed, else autocannon. Both send the same requests. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { lastLines } from '../stack/command.ts';
import { root } from '../stack/paths.ts';
import { spawnTethered } from '../stack/tether.ts';
import { makeTemplates, type Parts, type Site } from './bodies.ts';
import { getScript, postScript } from './wrk.ts';

/** Records of these sites. */
export interface Records extends Omit<Parts, 'ids'> {
  sites: Site[];
}

/** GETs of these paths with this token. */
export interface Reads {
  paths: string[];
  token: string;
}

export interface Load {
  baseUrl: string;
  seconds: number;
  send: Records | Reads;
}

export interface Measured {
  requestsPerSecond: number;
  /** answers other than 2xx, and requests without one */
  failed: number;
}

export interface RunningLoad {
  pid: number;
  /** Holds the client still, and lets it go on. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  /** Rejects where any request failed. */
  measured: Promise<Measured>;
}

/** As many as keep every server here busy: with half as many for records a fifth of two processors waited for Redis' disk. */
const connectionsFor = (send: Load['send']): number => ('sites' in send ? 256 : 128);

const hasWrk = !spawnSync('wrk', ['-v']).error;
export const loadTool = hasWrk ? 'wrk' : 'autocannon';

/** `dist`: the build that has the bench's own processes. */
export function startLoad(dist: string, load: Load): RunningLoad {
  const [command, ...args] = hasWrk ? wrk(dist, load) : autocannon(dist, load);
  const client = spawnTethered(command, args, { cwd: root, stdout: 'pipe', stderr: 'pipe' });
  let output = '';
  for (const stream of [client.child.stdout, client.child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const closed = new Promise((resolve) => client.child.once('close', resolve));
  const measured = closed.then(() => {
    const [, rate = '', failed = ''] = /RESULT ([\d.]+) (\d+)/.exec(output) ?? [];
    if (rate === '') throw new Error(`${loadTool} gave no result: ${lastLines(output, 3)}`);
    if (Number(failed) > 0) throw new Error(`${failed} requests to ${load.baseUrl} failed`);
    return { requestsPerSecond: Number(rate), failed: Number(failed) };
  });
  // who stops a load does not wait for its result
  measured.catch(() => {});
  const signal = (name: NodeJS.Signals) => {
    if (client.running()) client.child.kill(name);
  };
  return {
    pid: client.pid,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    stop: async () => {
      signal('SIGCONT');
      await client.stop();
    },
    measured,
  };
}

export async function runLoad(dist: string, load: Load): Promise<number> {
  return (await startLoad(dist, load).measured).requestsPerSecond;
}

type Command = [command: string, ...args: string[]];

function wrk(dist: string, { baseUrl, seconds, send }: Load): Command {
  // beside the build, so that it goes with it
  const script = path.join(dist, `load-${randomUUID()}.lua`);
  const { host } = new URL(baseUrl);
  const text = 'sites' in send ? postScript(makeTemplates(send.sites, host, send)) : getScript(send.paths, send.token);
  writeFileSync(script, text);
  return ['wrk', '-t1', `-c${connectionsFor(send)}`, `-d${seconds}s`, '--timeout', '30s', '-s', script, baseUrl];
}

function autocannon(dist: string, load: Load): Command {
  const file = path.join(dist, 'scripts/bench/autocannon.js');
  return [process.execPath, file, JSON.stringify({ ...load, connections: connectionsFor(load.send) })];
}
