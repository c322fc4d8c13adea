import { describe, expect, it } from 'vitest';
import { watchLag } from '#libs/store/replica';

const history = { systemIdentifier: '7', timeline: '00000001' };
const at = (wal: number) => ({ ...history, wal });

describe('a replica', () => {
  it('that has replayed what the primary had when it was asked is current, however long nothing happens', () => {
    const watch = watchLag(0);
    expect(watch.isKnown()).toBe(false);
    for (const time of [1_000, 2_000, 3_000, 600_000]) {
      expect(watch.see(time, at(500), at(500))).toBeNull();
      expect([watch.isKnown(), watch.lag(time)]).toEqual([true, 0]);
    }
  });

  it('lags since the primary was last no further than it is now', () => {
    const watch = watchLag(0);
    watch.see(1_000, at(100), at(100));
    watch.see(2_000, at(200), at(100));
    watch.see(3_000, at(300), at(100));
    expect(watch.lag(3_000)).toBe(2_000);
    watch.see(4_000, at(400), at(250));
    expect(watch.lag(4_000)).toBe(2_000);
    watch.see(5_000, at(400), at(400));
    expect(watch.lag(5_000)).toBe(0);
  });

  it('that is not asked any more lags more and more', () => {
    const watch = watchLag(0);
    watch.see(1_000, at(100), at(100));
    expect(watch.lag(9_000)).toBe(8_000);
  });

  it('is not known to be current before it has what the primary had at any time that it was asked', () => {
    const watch = watchLag(0);
    for (const time of [1_000, 2_000, 3_000]) {
      watch.see(time, at(1_000 + time), at(500));
      expect([watch.isKnown(), watch.lag(time)]).toEqual([false, time]);
    }
    watch.see(4_000, at(9_000), at(2_100));
    expect([watch.isKnown(), watch.lag(4_000)]).toEqual([true, 3_000]);
  });

  it('has all there is, while the primary is away, if it had all before', () => {
    const watch = watchLag(0);
    watch.see(1_000, at(100), at(100));
    watch.see(9_000, undefined, at(100));
    expect(watch.lag(9_000)).toBe(0);
    watch.see(10_000, at(200), at(100));
    watch.see(19_000, undefined, at(100));
    expect(watch.lag(19_000)).toBe(10_000);
  });

  it.each([
    ['it is not a replica', { ...history, wal: null }],
    ['it is a replica of another server', { ...history, systemIdentifier: '8', wal: 500 }],
    ['it has not followed the failover', { ...history, timeline: '00000002', wal: 500 }],
  ])('is none: %s', (reason, replica) => {
    expect(watchLag(0).see(1_000, at(500), replica)).toBe(reason);
  });

  it('of a primary that was promoted is measured anew', () => {
    const watch = watchLag(0);
    watch.see(1_000, at(100), at(100));
    const promoted = { ...history, timeline: '00000002' };
    watch.see(2_000, { ...promoted, wal: 90 }, { ...promoted, wal: 80 });
    expect(watch.isKnown()).toBe(false);
  });
});
