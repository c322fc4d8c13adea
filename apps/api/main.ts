/** The API process: reads its settings, opens the API and ends it on signals. */
import cluster from 'node:cluster';
import { exitOn, readOrExit } from '#libs/base/config/read';
import { endOnSignals } from '#libs/base/lifecycle';
import { createLog } from '#libs/base/ops/process-log';
import { readApiConfig } from '../settings/api.ts';
import { shareMetrics } from './cluster-metrics.ts';
import { openClusterPrimary } from './cluster-primary.ts';
import { openApi } from './serve.ts';

const config = readOrExit(readApiConfig);
const log = createLog('api', config.logLevel);

if (config.webConcurrency > 1 && cluster.isPrimary) {
  const primary = openClusterPrimary(config, { log, onUnable: () => process.exit(1) });
  await endOnSignals(primary, { deadline: 15_000, log }).catch(exitOn);
} else {
  // in a cluster the primary serves the operations port, with the metrics of all processes
  const opsPort = cluster.isWorker ? null : config.opsPort;
  const api = openApi({ ...config, opsPort }, { build: new URL('../', import.meta.url), log });
  const { metrics } = await endOnSignals(api, { deadline: 10_000, log }).catch(exitOn);
  if (cluster.isWorker) shareMetrics(metrics.register);
}
