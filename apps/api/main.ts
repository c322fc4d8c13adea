/** The API process: config → connect → listen → shutdown. */
import cluster from 'node:cluster';
import { readApiConfig } from '#libs/config/api';
import { exitOn, readOrExit } from '#libs/config/read';
import { createLog } from '#libs/telemetry/log';
import { runPrimary } from './process/primary.ts';
import { serve } from './process/serve.ts';
import { openCountries } from './record/countries.ts';

const config = readOrExit(readApiConfig);
// in a cluster here too, so that a bad file stops all of it
const countryOf = config.geoipFile === undefined ? undefined : await openCountries(config.geoipFile).catch(exitOn);

if (config.webConcurrency > 1 && cluster.isPrimary) await runPrimary(config, createLog('api', config.logLevel));
else await serve(config, countryOf);
