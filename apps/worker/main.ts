/** The worker process: config → open → signals. */
import { exitOn, readOrExit } from '#libs/base/config/read';
import { endOnSignals } from '#libs/base/lifecycle';
import { createLog } from '#libs/base/ops/process-log';
import { readWorkerConfig } from '../settings/worker.ts';
import { openWorker } from './open.ts';

const config = readOrExit(readWorkerConfig);
const log = createLog('worker', config.logLevel);
await endOnSignals(openWorker(config, { log }), { deadline: 30_000, log }).catch(exitOn);
