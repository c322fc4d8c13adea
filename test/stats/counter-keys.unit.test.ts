import { expect, it } from 'vitest';
import { shardOf } from '#libs/record/queue';
import { counterKey, fillKey, keysKey, readyKey } from '#libs/stats/redis-counters';

it('the keys of an organization share its hash tag, so that one script may touch them all in a cluster', () => {
  const counters = ['', 'dom_a'].flatMap((domainId) =>
    ['2024-02', '2024-02-01'].map((period) => counterKey('org_1', domainId, period)),
  );
  const keys = [readyKey, fillKey, keysKey].map((key) => key('org_1'));
  for (const key of [...keys, ...counters]) expect(/\{(.*?)\}/.exec(key)?.[1]).toBe('org_1');
});

it('the shard of an organization is always the same, and they are spread over all within 20 % of even', () => {
  for (const shards of [1, 2, 16]) {
    const found = Array.from({ length: 10_000 }, (_, n) => shardOf(`org_${n}`, shards));
    expect(Array.from({ length: 10 }, (_, n) => shardOf(`org_${n}`, shards))).toEqual(found.slice(0, 10));
    const counts = Array.from({ length: shards }, (_, shard) => found.filter((each) => each === shard).length);
    for (const count of counts) expect(Math.abs((count * shards) / 10_000 - 1)).toBeLessThan(0.2);
  }
});
