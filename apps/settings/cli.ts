/** The settings of the command line. */

import { userInfo } from 'node:os';
import { readSettings, refuse, withSecretFiles } from '#libs/base/config/read';
import type { KeyName } from '#libs/base/db/key-fingerprints';
import { fingerprintsOf } from './key-fingerprints.ts';
import { settings } from './settings.ts';
import {
  readAddressRule,
  readConnections,
  readDatabaseMode,
  readDatabaseUrl,
  readPreviousPrivacyKey,
  readPreviousSecretsKey,
  readPrivacyKey,
  readPublicUrl,
  readSecretsKey,
  readWebhookReach,
} from './shared.ts';
import { readMaxLifetime, readTokens } from './token-keys.ts';

/**
 * Each part is read on demand, since no command needs all of them. `stack`: the settings of a running `npm start`, used only
 * if the environment has no address of a store; the environment's settings take precedence. `actorGiven`: the value of
 * `--actor`.
 */
export function readCliConfig(
  stack: Record<string, string>,
  environmentGiven: NodeJS.ProcessEnv = process.env,
  actorGiven?: string,
) {
  const given = withSecretFiles(settings, environmentGiven);
  const own = given.DATABASE_URL || given.REDIS_URL || given.REDIS_CLUSTER_NODES || given.REDIS_SENTINELS;
  const environment = own ? given : { ...stack, ...given };
  const values = readSettings(settings, environment);
  return {
    connections: () => readConnections(values),
    database: () => ({
      url: readDatabaseUrl(values),
      ...readDatabaseMode(values),
    }),
    /** for `migrate` */
    roles: () => ({
      prefix: values.DATABASE_ROLE_PREFIX,
      addresses: { api: values.DATABASE_API_URL, worker: values.DATABASE_WORKER_URL },
    }),
    signing: () => readTokens(values),
    /** seconds */
    maxTokenLifetime: readMaxLifetime(values),
    logName: () => values.LOG_NAME ?? refuse('LOG_NAME', 'set: the name that all logs begin with, as for the worker'),
    privacyKey: () => readPrivacyKey(values) ?? refuse('PRIVACY_KEY', 'set, as for the API'),
    previousPrivacyKey: () => readPreviousPrivacyKey(values),
    secretsKey: () => readSecretsKey(values) ?? refuse('SECRETS_KEY', 'set, as for the API'),
    previousSecretsKey: () => readPreviousSecretsKey(values),
    /** the fingerprints of those keys that are set */
    keys: (names: KeyName[]) => fingerprintsOf(values, names, names),
    webhookReach: readWebhookReach(values),
    addressRule: () => readAddressRule(values),
    retentionMonths: values.RECORD_RETENTION_MONTHS,
    backupDays: values.BACKUP_DAYS,
    publicUrl: readPublicUrl(values),
    get actor() {
      return readActor(actorGiven);
    },
  };
}

export type CliConfig = ReturnType<typeof readCliConfig>;

/**
 * The actor in the log of administrative acts: the system's user, which the environment cannot change. `given`: the value of
 * `--actor`, for a user without a name, such as in a container with another user id.
 */
export function readActor(given: string | undefined, systemUser: () => { username: string } = userInfo): string {
  const name = nameOf(systemUser);
  if (name === undefined) {
    if (given?.trim()) return given.trim();
    throw new Error(`the system's user ${process.getuid?.() ?? ''} has no name: say who you are with --actor`);
  }
  if (given === undefined || given === name) return name;
  throw new Error(`--actor is for a system's user without a name, and this one is ${name}`);
}

function nameOf(systemUser: () => { username: string }): string | undefined {
  try {
    return systemUser().username || undefined;
  } catch {
    return undefined;
  }
}
