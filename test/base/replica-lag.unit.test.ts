import { beforeEach, describe, expect, it } from 'vitest';
import { watchLag } from '#libs/base/db/replica';

type Watch = ReturnType<typeof watchLag>;

const history = { systemIdentifier: '7', timeline: '00000001' };
const at = (wal: number) => ({ ...history, wal });

describe('a replica', () => {
  let watch: Watch;
  beforeEach(() => {
    watch = watchLag(0);
  });

  /** Both are asked at `time`; the replica has received `received`, and replayed `wal` of it. */
  const look = (time: number, primary: number, wal: number, received = wal) => {
    watch.hear(time, at(primary));
    return lookAlone(time, wal, received);
  };
  const lookAlone = (time: number, wal: number, received = wal) => watch.see(time, { ...history, wal, received });

  it('that has replayed what the primary had when it was asked is current, however long nothing happens', () => {
    expect(watch.isKnown()).toBe(false);
    for (const time of [1_000, 2_000, 600_000]) {
      expect(look(time, 500, 500)).toBeNull();
      expect([watch.isKnown(), watch.lag(time)]).toEqual([true, 0]);
    }
  });

  it('lags since the primary was last no further than it is now', () => {
    look(1_000, 100, 100);
    look(2_000, 200, 100);
    look(3_000, 300, 100);
    expect(watch.lag(3_000)).toBe(2_000);
    look(4_000, 400, 250);
    expect(watch.lag(4_000)).toBe(2_000);
    look(5_000, 400, 400);
    expect(watch.lag(5_000)).toBe(0);
  });

  it('that is not asked any more, or whose primary does not report its position, lags more and more', () => {
    look(1_000, 100, 100);
    expect(watch.lag(9_000)).toBe(8_000);
    watch.hear(9_000);
    lookAlone(9_000, 100);
    expect(watch.lag(9_000)).toBe(8_000);
  });

  it('is not known to be current before it has what the primary had at any time that it was asked', () => {
    lookAlone(500, 500);
    expect(watch.isKnown()).toBe(false);
    for (const time of [1_000, 2_000, 3_000]) {
      look(time, 1_000 + time, 500);
      expect([watch.isKnown(), watch.lag(time)]).toEqual([false, time]);
    }
    look(4_000, 9_000, 2_100);
    expect([watch.isKnown(), watch.lag(4_000)]).toEqual([true, 3_000]);
  });

  it('lags no more than before while its primary is silent', () => {
    look(1_000, 100, 100);
    for (const time of [2_000, 9_000]) lookAlone(time, 100);
    expect(watch.lag(9_000)).toBe(0);
    look(10_000, 200, 100);
    // neither responds for a while
    for (const time of [12_000, 19_000]) lookAlone(time, 100);
    expect(watch.lag(19_000)).toBe(1_000);
    lookAlone(20_000, 200);
    expect(watch.lag(20_000)).toBe(0);
  });

  it('lags since it received what it has not replayed, while its primary is silent to others', () => {
    look(1_000, 100, 100);
    for (const time of [2_000, 3_000, 4_000]) lookAlone(time, 150, time / 10);
    expect(watch.lag(4_000)).toBe(3_000);
    lookAlone(5_000, 300, 500);
    expect(watch.lag(5_000)).toBe(2_000);
  });

  it.each([
    ['it is not a replica', { ...history, wal: null, received: 500 }],
    ['it is a replica of another server', { ...history, systemIdentifier: '8', wal: 500, received: 500 }],
    ['it has not followed the failover', { ...history, timeline: '00000002', wal: 500, received: 500 }],
  ])('is none: %s', (reason, replica) => {
    watch.hear(1_000, at(500));
    expect(watch.see(1_000, replica)).toBe(reason);
  });

  it('of a primary that was promoted is measured from the start', () => {
    look(1_000, 100, 100);
    const promoted = { ...history, timeline: '00000002' };
    watch.hear(2_000, { ...promoted, wal: 90 });
    watch.see(2_000, { ...promoted, wal: 80, received: 80 });
    expect(watch.isKnown()).toBe(false);
  });
});
