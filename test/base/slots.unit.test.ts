import { describe, expect, it } from 'vitest';
import { Crowded, createSlots, eighthOf, type SlotsOptions } from '#libs/base/slots';

/** Work that ends when the test says so; `begun` names the keys in the order in which theirs began. */
function open(options: SlotsOptions) {
  const slots = createSlots(options);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (key: string, signal?: AbortSignal) =>
    slots.run(
      key,
      () => {
        begun.push(key);
        return new Promise<void>((resolve) => ends.push(resolve));
      },
      signal,
    );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** Its state by now: work that still waits would never settle. */
  const now = <T>(outcome: Promise<T>): Promise<T> =>
    Promise.race([outcome, turn().then(() => Promise.reject(new Error('it is still waiting')))]);
  /** The oldest that runs ends. */
  const end = async () => {
    ends.shift()?.();
    await turn();
  };
  return { slots, begun, work, end, turn, now };
}

describe('slots that organizations share', () => {
  it('are an eighth for each, at least one, and a free one stays free for others', async () => {
    expect([1, 8, 15, 16, 256].map(eighthOf)).toEqual([1, 1, 1, 2, 32]);
    const { begun, work, end, turn } = open({ slots: 16 });
    for (let count = 0; count < 100; count += 1) void work('a');
    await turn();
    expect(begun).toEqual(['a', 'a']);
    void work('b');
    await turn();
    expect(begun).toEqual(['a', 'a', 'b']);
    await end();
    expect(begun).toEqual(['a', 'a', 'b', 'a']);
  });

  it('are given by turns, however much one brought before', async () => {
    const { begun, work, end, turn } = open({ slots: 2, share: 2 });
    for (const key of ['a', 'a', ...Array<string>(1_000).fill('a'), 'b', 'b', 'b', 'c']) void work(key);
    await turn();
    for (let count = 0; count < 8; count += 1) await end();
    expect(begun.join('')).toBe('aaabcababa');
  });

  it('are passed on by what fails, and not waited for by what was given up', async () => {
    const { slots, begun, work, turn, now } = open({ slots: 1 });
    const leave = await now(slots.take('a'));
    const leaving = new AbortController();
    const left = work('b', leaving.signal);
    const failing = slots.run('c', () => Promise.reject(new Error('broken')));
    void work('d');
    leaving.abort(new Error('left'));
    await expect(now(left)).rejects.toThrow('left');
    await expect(now(work('b', leaving.signal))).rejects.toThrow('left');
    leave();
    // a second time it gives nothing back
    leave();
    await expect(now(failing)).rejects.toThrow('broken');
    await turn();
    expect(begun).toEqual(['d']);
    void work('e');
    await turn();
    expect(begun).toEqual(['d']);
  });

  it('refuse what is more than may wait to its own organization alone', async () => {
    const { work, begun, turn, now } = open({ slots: Number.POSITIVE_INFINITY, share: 1, waiting: 1 });
    void work('a');
    void work('a');
    await expect(now(work('a'))).rejects.toThrow(Crowded);
    void work('b');
    await turn();
    expect(begun).toEqual(['a', 'b']);
  });
});
