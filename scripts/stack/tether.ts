/**
 * A child process that cannot outlive us. It leads its own session, so that a Ctrl-C in the terminal only reaches us and we
 * stop things in order. It is also stopped when we are killed or crash: it begins as a shell that forks a watcher and
 * becomes the program. The watcher reads a pipe that only we hold open. A line means that the program ended; the end of the
 * pipe without a line means that we are gone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

export interface TetherOptions {
  uid?: number | undefined;
  gid?: number | undefined;
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  /** Where each stream goes, as for `spawn`. Default `ignore`. */
  stdout?: 'pipe' | 'inherit' | 'ignore';
  stderr?: 'pipe' | 'inherit' | 'ignore';
  /** Both streams go there instead, into a new file. */
  logFile?: string | undefined;
  /** The signal that asks the program to end, from us and from the watcher. Default SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** Milliseconds until it is killed. Default 10,000. */
  stopDeadlineMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type Tethered = ReturnType<typeof spawnTethered>;

// `$$` is the shell's pid also inside the subshells, and stays the program's through exec. The second fork hands the
// watcher to init: Postgres must not find a child that it does not know. The watcher drops our output, else its end would
// never be seen. While it lives, it is a member of the group `$$`, so that this number cannot be given to another process.
const WATCHED = `
signal=$1 tenths=$2
shift 2
exec 3<&0
( (
  if ! read -r line <&3; then
    kill -s "$signal" $$
    while [ "$tenths" -gt 0 ] && kill -s 0 $$; do sleep 0.1; tenths=$((tenths - 1)); done
    kill -s KILL -- -$$
  fi
) </dev/null >/dev/null 2>&1 & )
exec "$@" 3<&- </dev/null
`;

export function spawnTethered(command: string, args: readonly string[], options: TetherOptions = {}) {
  const { stdout = 'ignore', stderr = 'ignore', stopSignal = 'SIGTERM', stopDeadlineMs = 10_000 } = options;
  const { uid, gid, cwd, env, logFile } = options;
  const watch = [stopSignal.replace(/^SIG/, ''), String(Math.ceil(stopDeadlineMs / 100))];
  const log = logFile === undefined ? undefined : openSync(logFile, 'w', 0o600);
  const child = spawn('/bin/sh', ['-c', WATCHED, 'sh', ...watch, command, ...args], {
    uid,
    gid,
    cwd,
    env,
    detached: true,
    stdio: ['pipe', log ?? stdout, log ?? stderr],
  });
  if (log !== undefined) closeSync(log);
  // without a pid the 'error' event follows; the throw below already reports it
  child.on('error', () => {});
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${command}`);

  let running = true;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      running = false;
      child.stdin?.end('\n');
      resolve({ code, signal });
    });
  });
  // the watcher may be gone with the rest of the group
  child.stdin?.on('error', () => {});

  function kill() {
    if (!running || pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // it ended just now
    }
  }

  /** Sends the signal, waits, and kills the process group after the deadline. Can be called again, also after the end. */
  async function stop(signal = stopSignal, deadlineMs = stopDeadlineMs) {
    if (!running) return exited;
    child.kill(signal);
    const timer = setTimeout(kill, deadlineMs);
    const exit = await exited;
    clearTimeout(timer);
    return exit;
  }

  return { pid, child, exited, running: () => running, stop, kill };
}

export type CommandOptions = Omit<TetherOptions, 'stdout' | 'stderr'> & { signal?: AbortSignal | undefined };

/** Runs a program to its end. An abort ends it and throws. `output`: both streams in order. */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions = {}) {
  options.signal?.throwIfAborted();
  const tethered = spawnTethered(command, args, { ...options, stdout: 'pipe', stderr: 'pipe' });
  const closed = once(tethered.child, 'close');
  let stdout = '';
  let output = '';
  for (const stream of [tethered.child.stdout, tethered.child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (stream === tethered.child.stdout) stdout += text;
      output += text;
    });
  const abort = () => void tethered.stop();
  options.signal?.addEventListener('abort', abort, { once: true });
  const { code } = await tethered.exited;
  await closed;
  options.signal?.removeEventListener('abort', abort);
  options.signal?.throwIfAborted();
  return { code, stdout, output };
}

/** The program's stdout. A failure is thrown with its last lines. */
export async function outputOf(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { code, stdout, output } = await runCommand(command, args, options);
  if (code !== 0) throw new Error(lastLines(output, 5) || `${command} ended with ${code}`);
  return stdout;
}

export function lastLines(text: string, count = 12): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
