/** How `assent demo fill` sends: bounded, repeated where Redis fails, over only when all of it is stored. */
import { describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { type Path, type Portion, type Progress, send } from '../../apps/cli/demo/fill.ts';
import { createProgressLine } from '../../apps/cli/demo/progress.ts';
import { recordAt } from '../support/records.ts';

const portions = (days: number, size: number): Portion[] =>
  Array.from({ length: days }, (_, index) => ({
    date: `2026-01-${String(index + 1).padStart(2, '0')}`,
    done: (index + 1) / days,
    records: Array.from({ length: size }, () => recordAt(Date.UTC(2026, 0, index + 1), { domainId: 'dom_x' })),
  }));

/** A queue whose worker stores `speed` records at each look. */
function createWorld(speed: number) {
  const waiting: NewRecord[] = [];
  const stored = new Set<string>();
  const seen = { most: 0, jobs: 0, largest: 0 };
  const path: Path = {
    add: async (records) => {
      waiting.push(...records);
      seen.jobs += 1;
      seen.largest = Math.max(seen.largest, records.length);
      seen.most = Math.max(seen.most, waiting.length);
    },
    findStored: async (records) => {
      for (const { id } of waiting.splice(0, speed)) stored.add(id);
      return new Set(records.map(({ id }) => id).filter((id) => stored.has(id)));
    },
  };
  return { path, stored, seen, waiting };
}

const run = (list: Portion[], path: Path, stop = new AbortController().signal, onProgress = (_: Progress) => {}) =>
  send(list, path, { stop, onProgress });

describe('sending made-up records', () => {
  it('a worker that is slower than the sender never has more than some ten thousand waiting', async () => {
    const { path, seen, stored, waiting } = createWorld(100);
    expect(await run(portions(30, 1_000), path)).toMatchObject({ added: 30_000, present: 0, done: 1 });
    expect(seen.most).toBeGreaterThan(5_000);
    expect(seen.most).toBeLessThanOrEqual(10_250);
    expect({ largest: seen.largest, jobs: seen.jobs, stored: stored.size, waiting: waiting.length }).toEqual({
      largest: 250,
      jobs: 120,
      stored: 30_000,
      waiting: 0,
    });
  });

  it('sends only what is not there, and tells both', async () => {
    const { path, stored, seen } = createWorld(1_000);
    const list = portions(4, 300);
    for (const { id } of list[1]?.records ?? []) stored.add(id);
    expect(await run(list, path)).toMatchObject({ added: 900, present: 300 });
    expect(stored.size).toBe(1_200);
    const jobs = seen.jobs;
    expect(await run(list, path)).toMatchObject({ added: 0, present: 1_200, done: 1 });
    expect(seen.jobs).toBe(jobs);
  });

  it('an add that fails is done again, whether it landed or not', async () => {
    const { path, stored } = createWorld(1_000);
    let calls = 0;
    const add: Path['add'] = async (records) => {
      calls += 1;
      if (calls === 2) await path.add(records);
      if (calls <= 2) throw new Error('Command timed out');
      await path.add(records);
    };
    expect(await run(portions(1, 100), { ...path, add })).toMatchObject({ added: 100 });
    expect({ calls, stored: stored.size }).toEqual({ calls: 3, stored: 100 });
  });

  it('told to stop, sends nothing more and waits for what it sent', async () => {
    const { path, stored } = createWorld(50);
    const controller = new AbortController();
    const sent = new Set<string>();
    const add: Path['add'] = async (records) => {
      for (const { id } of records) sent.add(id);
      if (sent.size >= 1_000) controller.abort();
      await path.add(records);
    };
    const end = await run(portions(20, 1_000), { ...path, add }, controller.signal);
    expect(sent.size).toBe(1_000);
    expect([...sent].every((id) => stored.has(id))).toBe(true);
    expect(end).toMatchObject({ added: 1_000, done: 1 / 20 });
  });
});

describe('the progress line', () => {
  const stream = (isTTY: boolean) => {
    const written: string[] = [];
    const out = { isTTY, columns: 80, write: (text: string) => written.push(text) > 0 };
    return { written, out: out as unknown as NodeJS.WriteStream };
  };
  const at = (done: number): Progress => ({ date: '2026-03-01', done, added: Math.round(done * 1_000), present: 0 });

  it('on a terminal is one line, drawn anew and never wider than it', () => {
    const { out, written } = stream(true);
    const line = createProgressLine(out, false);
    line.show(at(0.1));
    line.show(at(0.11));
    line.show(at(1));
    line.end();
    expect(written).toHaveLength(3);
    for (const text of written.slice(0, 2)) {
      expect(text.startsWith('\r\x1b[2K')).toBe(true);
      expect(text.slice(5)).toMatch(/^[█░]{20} [^\r\n]*left$/);
      expect(text.length).toBeLessThanOrEqual(80 + 5);
    }
    expect(written.at(1)).toContain(`${'█'.repeat(20)} 100 %  2026-03-01  1,000 records`);
    expect(written.at(-1)).toBe('\n');
  });

  it('elsewhere is a line for each tenth, and nothing at all for machines', () => {
    const { out, written } = stream(false);
    const line = createProgressLine(out, false);
    for (let done = 0; done < 100; done += 1) line.show(at(done / 100));
    line.show(at(1));
    line.end();
    expect(written).toHaveLength(10);
    for (const text of written) expect(text).toMatch(/^ *\d+ % {2}2026-03-01 {2}[^\n\r]+\n$/);
    const machine = stream(true);
    const silent = createProgressLine(machine.out, true);
    silent.show(at(0.5));
    silent.end();
    expect(machine.written).toEqual([]);
  });
});
