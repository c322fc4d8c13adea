import { once } from 'node:events';
import { spawnTethered, type TetherOptions } from './tether.ts';

export type CommandOptions = Omit<TetherOptions, 'stdout' | 'stderr'> & { signal?: AbortSignal | undefined };

/**
 * Runs a program to its end; an abort ends it and throws. `output` is both streams as they came, `code` null when a
 * signal ended it.
 */
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

/** What the program writes to stdout; a failure is thrown with its last lines. */
export async function outputOf(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { code, stdout, output } = await runCommand(command, args, options);
  if (code !== 0) throw new Error(lastLines(output, 5) || `${command} ended with ${code}`);
  return stdout;
}

export function lastLines(text: string, count = 12): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
