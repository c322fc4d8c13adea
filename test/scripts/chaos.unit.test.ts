import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { clockOfProcess } from '../../scripts/chaos/clocks.ts';
import { stoodStill } from '../../scripts/chaos/load.ts';
import { readOptions } from '../../scripts/chaos/options.ts';
import { calm, faults, type Kind, makePlan, parts } from '../../scripts/chaos/random/plan.ts';

const seeds = Array.from({ length: 100 }, (_, seed) => seed * 7_919);

describe('a plan of random faults', () => {
  it('is the same for the same seed, another for another', () => {
    expect(makePlan(42, 20)).toEqual(makePlan(42, 20));
    expect(makePlan(43, 20)).not.toEqual(makePlan(42, 20));
    // a longer run begins like a shorter one
    const short = makePlan(42, 2);
    expect(makePlan(42, 20).slice(0, short.length)).toEqual(short);
  });

  it.each([1, 2, 20])('ends within its %d minutes, and lets every part come back before it fails again', (minutes) => {
    for (const seed of seeds) {
      const plan = makePlan(seed, minutes);
      expect(plan.length, `seed ${seed}`).toBeGreaterThan(0);
      const back = new Map<string, number>();
      const wrong = plan.filter(({ part, from, to }) => {
        // in tenths of a second
        const earliest = back.has(part) ? (back.get(part) ?? 0) + calm.between[0] - 0.05 : calm.first;
        back.set(part, to);
        return from < earliest || to < from || to > minutes * 60 - calm.last;
      });
      expect(wrong, `seed ${seed}`).toEqual([]);
    }
  });

  it('has every fault of every part, and now and then two at once', () => {
    const plans = seeds.map((seed) => makePlan(seed, 20));
    const planned = new Set(plans.flat().map(({ part, what }) => `${part}: ${what}`));
    const all = (Object.keys(faults) as Kind[]).flatMap((kind) =>
      parts[kind].flatMap((part) => Object.keys(faults[kind]).map((what) => `${part}: ${what}`)),
    );
    expect([...planned].sort()).toEqual(all.sort());
    for (const plan of plans) {
      const together = plan.filter(({ from }, at) => at > 0 && from <= (plan[at - 1]?.to ?? 0)).length;
      expect(together / plan.length).toBeGreaterThan(0.05);
      expect(together / plan.length).toBeLessThan(0.5);
    }
  });
});

it.each([
  [['--random', '--minutes', '1.5'], '--minutes is a whole number from 1 to 1440, not "1.5"'],
  [['--random', 'kills'], '--random is a run of its own: name no drills, and no --quick'],
  [['no-such'], 'no drill no-such; see npm run chaos -- --list'],
])('options that mean nothing are refused in one line: %j', (args, line) => {
  expect(() => readOptions(args, ['kills'])).toThrow(line);
});

it("a process' clock steps when it is set, while it runs", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'assent-'));
  const clock = clockOfProcess(path.join(folder, 'clock'));
  const env = { ...process.env, ...clock.env };
  const child = spawn(process.execPath, ['-e', 'setInterval(() => console.log(new Date().toISOString()), 20)'], {
    env,
  });
  try {
    const says = async (year: string) => {
      for (let text = ''; !text.startsWith(year); ) text = String(await once(child.stdout, 'data'));
    };
    await once(child.stdout, 'data');
    clock.set(Date.parse('2100-06-01') - Date.now());
    await says('2100');
    clock.set(Date.parse('2001-06-01') - Date.now());
    await says('2001');
  } finally {
    child.kill();
    rmSync(folder, { recursive: true });
  }
});

it('what the drill itself stands still is no time of an answer, whether or not it has looked since', async () => {
  const since = performance.now();
  while (performance.now() - since < 300);
  expect(stoodStill(since)).toBeGreaterThan(250);
  const after = performance.now();
  // until it has; a busy machine may stand still meanwhile, too
  await sleep(50);
  expect(stoodStill(since) - stoodStill(after)).toBeGreaterThan(250);
});
