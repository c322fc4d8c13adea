/** The settings that the processes run with: the user's own first, the rest from us. */
import { randomBytes } from 'node:crypto';
import { settings } from '../../libs/config/settings.ts';
import { readPrivate, writePrivate } from './files.ts';

/** What the user has set. An empty variable counts as not set, as in the services. */
export function given(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** Tokens can be issued only with a shared secret; with a public key, the host product has the other half. */
export function canIssueTokens(): boolean {
  return (given('JWT_ALGORITHM') ?? 'HS256') === 'HS256';
}

export function jwtSecret(): string {
  const secret = given('JWT_SECRET') ?? readPrivate('jwt-secret');
  if (secret !== undefined) return secret;
  const fresh = randomBytes(48).toString('base64url');
  writePrivate('jwt-secret', fresh);
  return fresh;
}

/** Every setting that is set, for the command line of another terminal, one per line. */
export function publishSettings(env: NodeJS.ProcessEnv): void {
  const lines = Object.keys(settings).flatMap((name) => {
    const value = env[name];
    // A key in PEM has several lines; the services take them written like this.
    return value ? [`${name}=${value.replaceAll('\n', '\\n')}\n`] : [];
  });
  writePrivate('env', lines.join(''));
}
