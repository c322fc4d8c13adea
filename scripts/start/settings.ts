/** The settings of the processes, with the user's own first, and those that `npm start` creates and keeps in `.data`. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withSecretFiles } from '#libs/base/config/read';
import { settings } from '../../apps/settings/settings.ts';
import { Advice, describe } from '../stack/advice.ts';
import { dataRoot } from '../stack/paths.ts';
import { writeFor } from '../stack/service-user.ts';

/** Written atomically, since others wait for these files to appear. */
export const writePrivate = (name: string, text: string): void => writeFor(undefined, path.join(dataRoot, name), text);

export function readPrivate(name: string): string | undefined {
  const file = path.join(dataRoot, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

export function removePrivate(...names: string[]): void {
  for (const name of names) rmSync(path.join(dataRoot, name), { force: true });
}

/** The user's environment, including files of secrets (`NAME_FILE`). */
export function environment(): NodeJS.ProcessEnv {
  try {
    return withSecretFiles(settings, process.env);
  } catch (error) {
    throw new Advice(describe(error));
  }
}

/** An empty variable counts as not set, as in the services. */
export const given = (name: string): string | undefined => environment()[name] || undefined;

/**
 * The names of the settings with the user's own stores; undefined if there are none. It refuses only one of the two, since a
 * database and a queue that do not belong together would mix up records.
 */
export function ownStores(): { postgres: string; redis: string } | undefined {
  const postgres = given('DATABASE_URL') && 'DATABASE_URL';
  const redis = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'].find(given);
  if (postgres && redis) return { postgres, redis };
  if (!postgres && !redis) return undefined;
  const [named, other] = postgres ? [postgres, 'REDIS_URL'] : [redis, 'DATABASE_URL'];
  throw new Advice(
    `${named} is set, but ${other} is not. Set both to use servers of your own, or neither: then npm start brings its own.`,
  );
}

/** Only with a shared secret: with a public key, the host product has the private one. */
export const canIssueTokens = (): boolean => (given('JWT_ALGORITHM') ?? 'HS256') === 'HS256';

/** Lifetime of the token in the dashboard's link, in hours: a week, or the maximum that the user allows. */
export const tokenHours = (): number => Math.min(7 * 24, Number(given('JWT_MAX_LIFETIME') ?? Number.POSITIVE_INFINITY));

/** Settings that the user has not set. Records are sealed sooner than by default, so that it is visible. */
export const madeSettings = (): Record<string, string> => ({
  ...(canIssueTokens() && { JWT_SECRET: secret('JWT_SECRET') }),
  PRIVACY_KEY: secret('PRIVACY_KEY'),
  SECRETS_KEY: secret('SECRETS_KEY'),
  LOG_KEY: secret('LOG_KEY'),
  LOG_NAME: given('LOG_NAME') ?? 'localhost',
  SEAL_SECONDS: given('SEAL_SECONDS') ?? '10',
});

/** The user's secret, or one that is created once for this installation. */
function secret(name: string): string {
  const file = name.toLowerCase().replaceAll('_', '-');
  const known = given(name) ?? readPrivate(file);
  if (known !== undefined) return known;
  const fresh = randomBytes(32).toString('hex');
  writePrivate(file, fresh);
  return fresh;
}

/** Writes every setting for the command line in another terminal, one per line. */
export function publishSettings(env: NodeJS.ProcessEnv): void {
  const lines = Object.keys(settings).flatMap((name) => {
    const value = env[name];
    // the lines of a PEM are separated by a literal `\n`, which the services accept
    return value ? [`${name}=${value.replaceAll('\n', '\\n')}\n`] : [];
  });
  writePrivate('env', lines.join(''));
}
