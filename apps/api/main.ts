/** The API process: config → connect → listen → shutdown. */
import cluster from 'node:cluster';
import { readApiConfig } from '#libs/config/api';
import { readOrExit } from '#libs/config/read';
import { createLog } from '#libs/telemetry/log';
import { runPrimary } from './process/primary.ts';
import { serve } from './process/serve.ts';

const config = readOrExit(readApiConfig);

if (config.webConcurrency > 1 && cluster.isPrimary) await runPrimary(config, createLog('api', config.logLevel));
else await serve(config);
