/** How `npm run demo` sends: retried where Redis fails, finished only when everything is stored. */
import { describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { type Path, store } from '../../scripts/demo/fill.ts';
import { recordAt } from '../support/records.ts';

const makeRecords = (count: number): NewRecord[] =>
  Array.from({ length: count }, () => recordAt(Date.UTC(2026, 0, 1), { domainId: 'dom_x' }));

/** A queue whose worker stores `speed` records at each look. */
function createWorld(speed: number) {
  const waiting: NewRecord[] = [];
  const stored = new Set<string>();
  const jobs: number[] = [];
  const path: Path = {
    add: async (records) => {
      waiting.push(...records);
      jobs.push(records.length);
    },
    findStored: async (records) => {
      for (const { id } of waiting.splice(0, speed)) stored.add(id);
      return new Set(records.map(({ id }) => id).filter((id) => stored.has(id)));
    },
  };
  return { path, stored, jobs, waiting };
}

describe('storing made-up records', () => {
  it('ends when a slow worker has stored everything, in jobs of 250', async () => {
    const { path, jobs, stored, waiting } = createWorld(300);
    expect(await store(makeRecords(1_100), path)).toBe(1_100);
    expect({ jobs, stored: stored.size, waiting: waiting.length }).toEqual({
      jobs: [250, 250, 250, 250, 100],
      stored: 1_100,
      waiting: 0,
    });
  });

  it('sends only what is missing', async () => {
    const { path, stored, jobs } = createWorld(1_000);
    const records = makeRecords(1_200);
    for (const { id } of records.slice(300, 600)) stored.add(id);
    expect(await store(records, path)).toBe(900);
    expect(stored.size).toBe(1_200);
    const before = jobs.length;
    expect(await store(records, path)).toBe(0);
    expect(jobs.length).toBe(before);
  });

  it('retries an add that fails, whether it landed or not', async () => {
    const { path, stored } = createWorld(1_000);
    let calls = 0;
    const add: Path['add'] = async (records) => {
      calls += 1;
      if (calls === 2) await path.add(records);
      if (calls <= 2) throw new Error('Command timed out');
      await path.add(records);
    };
    expect(await store(makeRecords(100), { ...path, add })).toBe(100);
    expect({ calls, stored: stored.size }).toEqual({ calls: 3, stored: 100 });
  });
});
