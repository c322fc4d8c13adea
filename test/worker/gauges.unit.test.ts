import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createAskedGauges } from '#libs/base/ops/sampled-gauges';
import { createStoreGauges } from '#libs/base/ops/store-gauges';
import { queueGauges } from '#libs/record/metrics';

const samplesOf = async (register: Registry) =>
  (await register.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

it('a gauge that cannot be read is absent, not old, and is back once it can be', async () => {
  const register = new Registry();
  let isAway = false;
  let errors = 0;
  const look =
    <Seen>(seen: Seen) =>
    async () => {
      if (isAway) throw new Error('away');
      return seen;
    };
  const failed = () => {
    errors += 1;
  };
  createAskedGauges(register, queueGauges, look([{ shard: 0, jobs: { failed: 2 }, oldest: 7 }]), failed);
  const stores = {
    isPostgresUsable: async () => !isAway,
    redisMemory: () => (isAway ? null : 0.25),
    clockSkew: () => (isAway ? null : -2_500),
    pools: {},
  };
  createStoreGauges(register, stores);
  const all = [
    'assent_queue_jobs{shard="0",state="failed"} 2',
    'assent_queue_oldest_job_age_seconds{shard="0"} 7',
    'assent_postgres_usable 1',
    'assent_redis_memory_used_ratio 0.25',
    'assent_clock_skew_seconds -2.5',
  ];
  expect(await samplesOf(register)).toEqual(all);
  isAway = true;
  expect(await samplesOf(register)).toEqual(['assent_postgres_usable 0']);
  expect(errors).toBe(1);
  isAway = false;
  expect(await samplesOf(register)).toEqual(all);
});
