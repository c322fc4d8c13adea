import { once } from 'node:events';
import { spawnTethered, type TetherOptions } from './tether.ts';

export interface CommandResult {
  /** null when a signal ended it */
  code: number | null;
  stdout: string;
  /** Both streams, as they came. */
  output: string;
}

/** Runs a program to its end and gives back what it wrote; an abort ends it and throws. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: Omit<TetherOptions, 'stdout' | 'stderr'> & { signal?: AbortSignal | undefined } = {},
): Promise<CommandResult> {
  options.signal?.throwIfAborted();
  const tethered = spawnTethered(command, args, { ...options, stdout: 'pipe', stderr: 'pipe' });
  const closed = once(tethered.child, 'close');
  let stdout = '';
  let output = '';
  tethered.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  tethered.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
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

/** The last lines of a text, for an error message. */
export function lastLines(text: string, count = 12): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
