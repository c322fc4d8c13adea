import { describe, expect, it } from 'vitest';
import { shardOf } from '#libs/record/queue';
import { counterField, counterKey, fillKey, keysKey, parseKey, readyKey, unpack } from '#libs/stats/redis-counters';

const organizationId = 'org_1';
const places = ['', 'dom_a', 'A-z_9'].flatMap((domainId) =>
  ['2024-02', '2024-02-01', '2024-02-29', '2024-03', '2023-02'].map((period) => ({ domainId, period })),
);

describe('the keys of counters', () => {
  it('are a place of its own for each counter, and say what they hold', () => {
    const keys = places.map(({ domainId, period }) => counterKey(organizationId, domainId, period));
    const fields = places.map(({ period }) => counterField(period));
    expect(new Set(keys.map((key, index) => `${key} ${fields[index]}`)).size).toBe(places.length);
    const held = keys.map((key, index) => {
      const { month, domainId } = parseKey(organizationId, key);
      return { domainId, period: [month, fields[index]].filter(Boolean).join('-') };
    });
    expect(held).toEqual(places);
  });

  it('of an organization share its hash tag, so that one script may touch them all in a cluster', () => {
    const keys = [readyKey, fillKey, keysKey].map((key) => key(organizationId));
    for (const key of [...keys, ...places.map((place) => counterKey(organizationId, place.domainId, place.period))])
      expect(/\{(.*?)\}/.exec(key)?.[1]).toBe(organizationId);
  });

  it('hold four counts', () => {
    const breakdown = { accept_all: 1, reject_all: 0, custom: 2 ** 53 - 1, withdraw: 4 };
    expect(unpack('1 0 9007199254740991 4')).toEqual(breakdown);
  });
});

it('the shard of an organization is always the same, and they are spread over all within 20 % of even', () => {
  for (const shards of [1, 2, 16]) {
    const found = Array.from({ length: 10_000 }, (_, n) => shardOf(`org_${n}`, shards));
    expect(Array.from({ length: 10_000 }, (_, n) => shardOf(`org_${n}`, shards))).toEqual(found);
    const counts = Array.from({ length: shards }, (_, shard) => found.filter((each) => each === shard).length);
    for (const count of counts) expect(Math.abs((count * shards) / 10_000 - 1)).toBeLessThan(0.2);
  }
});
