/** Starts a server on the loopback, on its own or a free port, with its log in a file. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Advice, describe } from './advice.ts';
import { freePort } from './ports.ts';
import { lastLines, spawnTethered, type Tethered, type TetherOptions } from './tether.ts';
import { untilTrue, waitUntil } from './wait.ts';

export interface ServerOptions {
  /** Created if missing; used by this server only. */
  dataDir: string;
  port?: number | undefined;
  settings?: Record<string, string>;
  say?: (line: string) => void;
  /** An abort before the server responds stops it. */
  signal?: AbortSignal | undefined;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

interface Start extends Pick<ServerOptions, 'dataDir' | 'port' | 'signal'> {
  name: string;
  command: string;
  argumentsOf(port: number): string[] | Promise<string[]>;
  /** how it is started and stopped */
  tether?: TetherOptions;
  urlOf(port: number): string;
  /** Resolves once the server with this process is ready; its error explains why it is not. */
  probe(url: string, pid: number): Promise<unknown>;
}

export async function startServer(start: Start) {
  const { name, dataDir, port: wanted, signal, command, argumentsOf, tether, urlOf, probe } = start;
  const logFile = path.join(dataDir, 'server.log');
  for (let attempt = 1; ; attempt++) {
    const port = wanted ?? (await freePort());
    const url = urlOf(port);
    const server = spawnTethered(command, await argumentsOf(port), { ...tether, cwd: dataDir, logFile });
    try {
      await untilReady(() => probe(url, server.pid), server, signal);
      const { child, pid, exited, kill } = server;
      const stop = async () => void (await server.stop());
      return { url, port, child, pid, dataDir, logFile, exited, stop, kill };
    } catch (error) {
      await server.stop();
      const lines = readFileSync(logFile, 'utf8');
      // Go and Node write it in lower case
      const taken = /address already in use/i.test(lines);
      if (taken && wanted === undefined && attempt < 3) continue;
      if (signal?.aborted) throw error;
      if (taken) throw new Advice(`Port ${port} is taken: ${name} cannot listen there.`);
      throw new Advice(`${name} did not start: ${describe(error)}\n${lastLines(lines)}`);
    }
  }
}

/** Waits long enough for a recovery after a crash. */
async function untilReady(probe: () => Promise<unknown>, server: Tethered, signal: AbortSignal | undefined) {
  let last: unknown;
  const isReady = async () => {
    if (!server.running()) throw new Error('it ended');
    last = await probe().then(
      () => undefined,
      (error) => error,
    );
    return last === undefined;
  };
  if (!(await waitUntil(isReady, { deadlineMs: 120_000, signal }))) throw last;
}

/** The number on the first line of a file, such as a pid; undefined if it has none. */
export function readNumber(file: string): number | undefined {
  const number = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0;
  return number > 1 ? number : undefined;
}

/** The command line of a process; '' if there is none. A pid alone may belong to another program by now. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Waits for a server that a killed run left behind: two would destroy the folder in `argument`. */
export const untilEnded = (pid: number | undefined, argument: string): Promise<void> =>
  untilTrue(
    () => pid === undefined || !commandLine(pid).includes(argument),
    `process ${pid}, left by an earlier run in ${argument}, ends`,
  );

export type Restartable = Pick<ReturnType<typeof restartable>, 'running' | 'start'>;

/** A server that can be stopped and restarted, on its port and with its data. */
export function restartable<Server extends RunningServer>(first: Server, again: (port: number) => Promise<Server>) {
  let server = first;
  return {
    url: first.url,
    port: first.port,
    running: () => server,
    kill: async () => {
      server.kill();
      await server.exited;
    },
    start: async () => {
      server = await again(first.port);
    },
    /** Replaces it by another server, such as a promoted replica. */
    become: (other: Server) => {
      server = other;
    },
  };
}
