/** The settings of the worker. */

import { readSettings, refuse } from '#libs/base/config/read';
import type { KeyName } from '#libs/base/db/key-fingerprints';
import { fingerprintsOf } from './key-fingerprints.ts';
import { settings, type Values } from './settings.ts';
import {
  readConnections,
  readPreviousSecretsKey,
  readPrivacyKey,
  readSecretsKey,
  readTracing,
  readWebhookReach,
} from './shared.ts';

const keys: KeyName[] = ['PRIVACY_KEY', 'SECRETS_KEY', 'LOG_KEY'];

export function readWorkerConfig(environment?: NodeJS.ProcessEnv) {
  const values = readSettings(settings, environment);
  return {
    ...readConnections(values),
    tracing: readTracing(values),
    opsHost: values.OPS_HOST,
    opsPort: values.OPS_PORT ?? 3002,
    concurrency: values.WORKER_CONCURRENCY,
    retentionMonths: values.RECORD_RETENTION_MONTHS,
    sealing: readSealing(values),
    keys: fingerprintsOf(values, keys, keys),
    personalRetentionMonths: values.PERSONAL_RETENTION_MONTHS,
    privacyKey: readPrivacyKey(values),
    secretsKey: readSecretsKey(values),
    previousSecretsKey: readPreviousSecretsKey(values),
    webhookReach: readWebhookReach(values),
    backupDays: values.BACKUP_DAYS,
    timestampUrl: values.TIMESTAMP_URL,
  };
}

/** Undefined if nothing is sealed. */
function readSealing(values: Values) {
  const { LOG_KEY, LOG_KEY_PREVIOUS, LOG_NAME, SEAL_SECONDS } = values;
  if (LOG_KEY_PREVIOUS && !LOG_KEY) refuse('LOG_KEY', 'set beside LOG_KEY_PREVIOUS');
  if (!LOG_KEY || SEAL_SECONDS === 0) return undefined;
  return {
    name: LOG_NAME ?? refuse('LOG_NAME', 'set beside LOG_KEY: the name that all logs begin with'),
    /** newest first */
    keys: [LOG_KEY, ...(LOG_KEY_PREVIOUS ? [LOG_KEY_PREVIOUS] : [])].map((key) => Buffer.from(key, 'hex')),
    seconds: SEAL_SECONDS,
  };
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
