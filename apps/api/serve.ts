/** One API: connects, listens, and stops in order. Signals and exit codes are main.ts' business. */

import { createLiveBanners } from '#libs/banner/live';
import { BadSetting } from '#libs/base/config/read';
import { createClock } from '#libs/base/db/clock';
import { createDatabase } from '#libs/base/db/database';
import { compareKeys, failingOf } from '#libs/base/db/key-fingerprints';
import { readsOf } from '#libs/base/db/replica';
import { reportTablesElsewhere } from '#libs/base/db/search-path';
import { handleBrokenRequests } from '#libs/base/http/exchange';
import { closeServer, connectionLimit, createHttpServer } from '#libs/base/http/server';
import { inOrder, type Running } from '#libs/base/lifecycle';
import type { BaseMetrics } from '#libs/base/ops/metrics';
import { createOpsServer, listen } from '#libs/base/ops/port';
import { listenForOperators } from '#libs/base/ops/port-address';
import type { ProcessLog } from '#libs/base/ops/process-log';
import { isPostgresUsable } from '#libs/base/ops/readiness';
import { createAskedGauges } from '#libs/base/ops/sampled-gauges';
import { createStoreGauges } from '#libs/base/ops/store-gauges';
import { connectRedis } from '#libs/base/redis/connection';
import { endsSoon, within } from '#libs/base/timers';
import { version } from '#libs/base/version';
import { createKnownNotices } from '#libs/notices/known-notices';
import type { Cost } from '#libs/people/passwords';
import { openPlaceOf } from '#libs/place/place-of';
import { createDirectStore } from '#libs/record/direct-store';
import { queueGauges } from '#libs/record/metrics';
import { observeQueues } from '#libs/record/queue-summary';
import { createProducer, createRecorder } from '#libs/record/recorder';
import { createStoredThrough } from '#libs/record/stored-through';
import { createCounterReader } from '#libs/stats/counter-reader';
import { createDisplayCounter } from '#libs/stats/display-buffer';
import { createFacetReader } from '#libs/stats/facets';
import { storeDisplays } from '#libs/stats/stored-displays';
import { createLogReads } from '#libs/tenants/log-reads';
import { createSharedSlots, type SharedSlots } from '#libs/tenants/shared-slots';
import { createTenantCache } from '#libs/tenants/tenant-cache';
import { observe, observeRedis, warnOfMissingKeys } from '../process/observe.ts';
import type { ApiConfig } from '../settings/api.ts';
import { createApp } from './app.ts';
import { createWidgetCache } from './pages/widget-cache.ts';
import { queuePages } from './queue-pages.ts';
import { apiReadiness } from './readiness.ts';
import { openReplica } from './replica.ts';

/** milliseconds */
const drainTime = 1_000;
/**
 * Milliseconds. With `closeServer` and closing the stores, this must fit in the ten seconds that `main.ts` gives a
 * shutdown.
 */
const memoryPatience = 2_500;
/** Milliseconds to wait for Redis at start. */
const startPatience = 2_000;
const timeouts = { statementTimeout: 2_000, deadline: 2_300 };
/**
 * `recording`: three connections store records that Redis cannot take; one reads what every request is checked against,
 * such as revoked keys. Organizations' reads use `main`, so they delay neither.
 */
const poolSizes = { main: 10, recording: 4 };

interface ApiOptions {
  /** the folder of the builds of the dashboard, the widget and the proof checker; ends with a slash */
  build: URL;
  log: ProcessLog;
  /** Milliseconds for clients to move their next requests to another process when this one stops; default 1,000. */
  drain?: number;
  /** default: `createSharedSlots()`; tests replace it */
  slots?: SharedSlots;
  /** of scrypt; tests use a lower one */
  passwordCost?: Cost;
}

interface RunningApi extends Running {
  port: number;
  /** null: another process serves it */
  opsPort: number | null;
  metrics: BaseMetrics;
}

/**
 * Rejects with a BadSetting if a port or file cannot be opened, or if a key is not the one this database is used with. If
 * `opsPort` is null, another process serves that port and compares the keys.
 */
export async function openApi(
  config: Omit<ApiConfig, 'opsPort'> & { opsPort: number | null },
  { build, log, drain = drainTime, slots = createSharedSlots(), passwordCost }: ApiOptions,
): Promise<RunningApi> {
  const placeOf = await openPlaceOf(config.place);
  const { metrics, failed, tracing, queueTracing } = await observe('assent-api', config, log);
  const database = { ...timeouts, ...config.databaseMode, name: 'assent-api', url: config.databaseUrl };
  const db = createDatabase({ ...database, max: poolSizes.main });
  const recordingDb = createDatabase({ ...database, max: poolSizes.recording });
  const pools = [db, recordingDb] as const;
  const clock = createClock(db, log);
  void reportTablesElsewhere(db, log);
  const keys = compareKeys(db, config.opsPort === null ? [] : config.keys);
  const replica = openReplica(config, {
    primary: db,
    connections: poolSizes.main,
    log,
    onLook: ({ isUsed, lag }) => {
      metrics.replicaUsed.set(isUsed ? 1 : 0);
      metrics.replicaLag.set(lag);
    },
  });
  const readDb = replica?.reads ?? readsOf(db);
  const redis = connectRedis(config.redis, 'producer', log);
  const redisHealth = observeRedis(
    redis.client,
    { metrics, log },
    { usable: 'recording through Redis', unusable: 'recording straight to Postgres' },
    'producer',
  );
  const producer = createProducer(redis, config.queueShards, {
    onAnnounceError: failed('announce_shards'),
    tracing: queueTracing,
  });
  const queues = observeQueues(redis, config.queueShards);
  createAskedGauges(metrics.register, queueGauges, queues.summarize, failed('observe_queues'));
  createStoreGauges(metrics.register, {
    isPostgresUsable: () => isPostgresUsable(pools),
    redisMemory: redisHealth.memory,
    clockSkew: clock.skew,
    pools: {
      main: { running: db.running, connections: poolSizes.main },
      recording: { running: recordingDb.running, connections: poolSizes.recording },
      ...(replica && { read: { running: replica.running, connections: poolSizes.main } }),
    },
  });
  const tenants = createTenantCache(recordingDb, log);
  const banners = createLiveBanners({ db, tenants, publicUrl: config.publicUrl });
  const notices = createKnownNotices(db, log);
  await Promise.all([tenants.follow(), notices.follow(), clock.follow(), replica?.follow()]);

  const recorder = createRecorder({
    producer,
    redisHealth,
    persistDirectly: createDirectStore({ db: recordingDb, metrics, log, statements: poolSizes.recording - 1 }),
    shards: config.queueShards,
    log,
    metrics,
    tracing,
  });
  const storedThrough = createStoredThrough(redis, config.queueShards, failed('stored_through'));
  const counters = createCounterReader({ redis, redisHealth, db, log, metrics });
  const displays = createDisplayCounter({ store: (flush) => storeDisplays(db, flush), log, metrics });
  const logReads = createLogReads({ db, log, metrics });
  const widget = createWidgetCache({ db, build, log, onStoreError: failed('keep_widget_files') });
  widget.store();
  const facets = createFacetReader(db);
  const app = createApp({
    config,
    build,
    placeOf,
    log,
    metrics,
    tracing,
    db,
    redis,
    readDb,
    tenants,
    notices,
    clock,
    recorder,
    storedThrough,
    counters,
    facets,
    displays,
    logReads,
    widget,
    banners,
    slots,
    passwordCost,
  });

  const server = createHttpServer(app.callback());
  handleBrokenRequests(server);
  const readiness = async () => {
    const state = await apiReadiness({ pools, redisHealth, replica });
    return { ...state, ready: state.ready && !stopping };
  };
  const ops = createOpsServer({
    name: 'API',
    readiness,
    shards: queues.summarize,
    metrics: async () => ({ type: metrics.register.contentType, text: await metrics.register.metrics() }),
    queues: queuePages(queues.queues),
  });

  let stopping = false;
  const stopListening = () => {
    stopping = true;
    return closeServer(server, drain);
  };
  // every pool is shown the error, since it does not say whose connection it was
  const recover = (error: unknown) => [...pools, replica].map((each) => each?.recover(error)).includes(true);
  // it may give up: what is still in progress was never acknowledged, and its client is already disconnected
  const recorded = () => within(memoryPatience, recorder.idle()).catch(() => {});
  const closeStores = async () => {
    await Promise.all([producer.close(), queues.close()]);
    await Promise.all([redis.close(), ...pools.map((each) => each.close()), replica?.close()]);
  };
  const stop = inOrder(
    [
      { name: 'keys', stop: () => keys.close() },
      { name: 'requests', stop: () => stopListening() },
      // together, since each may wait 2.5 s if a store is away
      { name: 'what is in memory', stop: () => Promise.all([recorded(), displays.close(), logReads.close()]) },
      { name: 'tenants', stop: () => tenants.close() },
      { name: 'notices', stop: () => notices.close() },
      { name: 'stored through', stop: () => storedThrough.close() },
      { name: 'widget', stop: () => widget.close() },
      { name: 'clock', stop: async () => clock.close() },
      { name: 'redis health', stop: () => redisHealth.close() },
      // no request needs the stores any more, so they get a second at most
      { name: 'connections', stop: () => Promise.all([endsSoon(closeStores()), tracing?.close()]) },
      { name: 'operations port', stop: () => ops.close() },
    ],
    log,
  );

  // the API also starts without Redis
  await within(startPatience, Promise.all([redisHealth.usable(), producer.ready()]).then(storedThrough.follow)).catch(
    () => {},
  );
  try {
    await keys.tried;
    const port = await listen(server, config.host, config.port, 'PORT');
    const opsPort = config.opsPort === null ? null : await listenForOperators(ops, config.opsHost, config.opsPort);
    warnOfMissingKeys(config, log);
    const { connections, isLowered } = connectionLimit();
    if (isLowered)
      log.warn(
        { event: 'few_connections', connections },
        'the limit on open files lowers how many connections it takes',
      );
    log.info({ event: 'listening', version, host: config.host, port, opsPort }, 'listening');
    return { port, opsPort, metrics, stop, recover, failing: failingOf(keys) };
  } catch (error) {
    await stop();
    throw new BadSetting(error instanceof Error ? error.message : String(error));
  }
}
