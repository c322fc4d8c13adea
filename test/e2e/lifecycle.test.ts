import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '../../scripts/stack/paths.ts';

/** Runs a process in which an error goes uncaught, and returns what it printed and how it ended. */
async function withUncaught(recover: string): Promise<{ printed: string; code: number }> {
  const script = `
    import { createLifecycle } from ${JSON.stringify(path.join(root, 'libs/runtime/lifecycle.ts'))};
    const say = (fields, message) => console.log(message);
    createLifecycle({ deadline: 5_000, log: { info: say, error: say }, recover: ${recover} }).onStop([
      { name: 'work', stop: () => console.log('work ends') },
    ]);
    process.on('uncaughtException', () => setImmediate(() => { console.log('goes on'); process.emit('SIGTERM'); }));
    setImmediate(() => { throw new TypeError('lost'); });
    setInterval(() => {}, 60_000);
  `;
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script],
      {
        cwd: root,
      },
    );
    return { printed: stdout, code: 0 };
  } catch (error) {
    const { stdout, code } = error as { stdout: string; code: number };
    return { printed: stdout, code };
  }
}

describe('an error that nobody caught', () => {
  it('ends the process in order, with exit code 1', async () => {
    const { printed, code } = await withUncaught('undefined');
    expect(printed).toMatch(/^uncaught error\nstopping\nwork ends\n/);
    expect(code).toBe(1);
  });

  it('that can be recovered from does not end it', async () => {
    const { printed, code } = await withUncaught("(error) => error.message === 'lost'");
    expect(printed).toBe('uncaught error\ngoes on\nstopping\nwork ends\nstopped\n');
    expect(code).toBe(0);
  });
});
