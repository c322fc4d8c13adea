import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createAskedGauges } from '#libs/base/ops/asked-gauges';
import { createStoreGauges } from '#libs/base/ops/store-gauges';
import { queueGauges, recordBacklog } from '#libs/record/metrics';

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
  const backlog = { rejectedRecords: 2, epochsClosed: 4, epochOpen: 5, derivationLag: { seal: 6 } };
  createAskedGauges(register, recordBacklog([]).gauges, look(backlog), failed);
  const stores = {
    isPostgresUsable: () => !isAway,
    redisMemory: () => (isAway ? null : 0.25),
    clockSkew: () => (isAway ? null : -2_500),
    pools: {},
  };
  createStoreGauges(register, stores);
  const all = [
    'assent_queue_jobs{shard="0",state="failed"} 2',
    'assent_queue_oldest_job_age_seconds{shard="0"} 7',
    'assent_rejected_records 2',
    'assent_epochs_closed 4',
    'assent_epoch_open_seconds 5',
    'assent_derivation_lag_seconds{derivation="seal"} 6',
    'assent_postgres_usable 1',
    'assent_redis_memory_used_ratio 0.25',
    'assent_clock_skew_seconds -2.5',
  ];
  expect(await samplesOf(register)).toEqual(all);
  isAway = true;
  expect(await samplesOf(register)).toEqual(['assent_postgres_usable 0']);
  expect(errors).toBe(2);
  isAway = false;
  expect(await samplesOf(register)).toEqual(all);
});
