import { describe, expect, it } from 'vitest';
import { counterField, counterKey, fillKey, keysKey, parseKey, readyKey, unpack } from '#libs/counters/keys';
import { shardOf } from '#libs/queue/names';

const organizationId = 'org_1';
const places = ['', 'dom_a', 'A-z_9'].flatMap((domainId) =>
  ['2024-02', '2024-02-01', '2024-02-29', '2024-03', '2023-02'].map((period) => ({ domainId, period })),
);

describe('the keys of counters', () => {
  it('are a place of its own for each counter', () => {
    const at = places.map(
      ({ domainId, period }) => `${counterKey(organizationId, domainId, period)} ${counterField(period)}`,
    );
    expect(new Set(at).size).toBe(places.length);
  });

  it('say what they hold', () => {
    for (const { domainId, period } of places) {
      const { month, ...rest } = parseKey(organizationId, counterKey(organizationId, domainId, period));
      expect(rest).toEqual({ domainId });
      const field = counterField(period);
      expect(month ? `${month}-${field}` : field).toBe(period);
    }
  });

  it('of an organization share its hash tag, so that one script may touch them all in a cluster', () => {
    const keys = [readyKey, fillKey, keysKey].map((key) => key(organizationId));
    for (const key of [...keys, ...places.map((place) => counterKey(organizationId, place.domainId, place.period))])
      expect(/\{(.*?)\}/.exec(key)?.[1]).toBe(organizationId);
  });

  it('hold four counts', () => {
    expect(unpack('1 0 9007199254740991 4')).toEqual({
      accept_all: 1,
      reject_all: 0,
      custom: 2 ** 53 - 1,
      withdraw: 4,
    });
  });
});

describe('the shard of an organization', () => {
  it('is always the same and one of those that there are', () => {
    for (const shards of [1, 2, 8, 64]) {
      for (let n = 0; n < 100; n += 1) {
        const shard = shardOf(`org_${n}`, shards);
        expect(shard).toBe(shardOf(`org_${n}`, shards));
        expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true);
      }
    }
  });

  it('spreads organizations over all of them, within 20 % of even', () => {
    const counts = Array<number>(16).fill(0);
    for (let n = 0; n < 10_000; n += 1) {
      const shard = shardOf(`org_${n}`, 16);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(0.8 * (10_000 / 16));
    expect(Math.max(...counts)).toBeLessThan(1.2 * (10_000 / 16));
  });
});
