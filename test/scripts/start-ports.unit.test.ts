/** The ports of `npm start` may be lost between choosing and using them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Tethered } from '../../scripts/stack/tether.ts';
import { onFreePorts, PortTaken } from '../../scripts/start/addresses.ts';
import { failure } from '../../scripts/start/services.ts';

it('others are chosen where a port was taken meanwhile, a few times, and not after another failure', async () => {
  let tries = 0;
  const taken = (times: number) => async () => {
    tries += 1;
    if (tries <= times) throw new PortTaken('taken');
    return tries;
  };
  expect(await onFreePorts(taken(2))).toBe(3);
  tries = 0;
  await expect(onFreePorts(taken(100))).rejects.toThrow(PortTaken);
  expect(tries).toBe(5);
  tries = 0;
  const failing = onFreePorts(async () => {
    tries += 1;
    throw new Error('another one');
  });
  await expect(failing).rejects.toThrow('another one');
  expect(tries).toBe(1);
});

it.each([
  ['PORT 3000 on 127.0.0.1 is taken', true],
  ['OPS_PORT 3001 on ::1 is taken', true],
  ['PORT must be a whole number from 0 to 65535, not "x"', false],
])('of a process that ended with "%s" it is known that it found its port taken: %s', async (line, isTaken) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'assent-'));
  const logFile = path.join(folder, 'api.log');
  writeFileSync(logFile, `something before\n${line}\n`);
  try {
    const tethered = { exited: Promise.resolve({ code: 1, signal: null }) } as Tethered;
    const error = await failure({ name: 'api', logFile, tethered });
    expect([error instanceof PortTaken, error.message]).toEqual([isTaken, expect.stringContaining(line)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
