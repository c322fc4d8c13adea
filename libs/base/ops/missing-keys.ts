/** What a process lacks that was started without a key: otherwise it first shows when somebody wants to be erased. */
import type { Log } from './process-log.ts';

interface Keys {
  privacyKey: Buffer | undefined;
  secretsKey: Buffer | undefined;
}

/** One line for each key that is not set. */
export function warnOfMissingKeys({ privacyKey, secretsKey }: Keys, log: Pick<Log, 'warn'>): void {
  if (!privacyKey)
    log.warn(
      { event: 'no_privacy_key' },
      'visitors can be neither looked up nor erased, and no erasure is repeated: PRIVACY_KEY is not set',
    );
  if (!secretsKey) log.warn({ event: 'no_secrets_key' }, 'there are no webhooks: SECRETS_KEY is not set');
}
