/** The worker process: config → open → signals. */
import { exitOn, readOrExit } from '#libs/config/read';
import { readWorkerConfig } from '#libs/config/worker';
import { endOnSignals } from '#libs/runtime/lifecycle';
import { createLog } from '#libs/telemetry/log';
import { openWorker } from './open.ts';

const config = readOrExit(readWorkerConfig);
const log = createLog('worker', config.logLevel);
await endOnSignals(openWorker(config, { log }), { deadline: 30_000, log }).catch(exitOn);
