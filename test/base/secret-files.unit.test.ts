import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { withSecretFiles } from '#libs/base/config/read';
import { readApiConfig } from '../../apps/settings/api.ts';
import { readCliConfig } from '../../apps/settings/cli.ts';
import { type Setting, settings } from '../../apps/settings/settings.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'assent-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const inFile = (text: string): string => {
  const file = path.join(mkdtempSync(path.join(folder, 'one-')), 'secret');
  writeFileSync(file, text);
  return file;
};
const secrets = Object.entries<Setting>(settings).flatMap(([name, { secret }]) => (secret ? [name] : []));

describe('a secret from a file', () => {
  it.each(secrets)('is taken for %s, without the line break at its end', (name) => {
    expect(withSecretFiles(settings, { [`${name}_FILE`]: inFile('two words \n') })).toEqual({ [name]: 'two words ' });
  });

  it('reaches the processes and the command line', () => {
    const url = 'postgres://assent:of-a-file@db.example/assent';
    const environment = {
      DATABASE_URL_FILE: inFile(`${url}\n`),
      REDIS_URL_FILE: inFile('redis://redis.example\r\n'),
      JWT_SECRET_FILE: inFile('thirty-two bytes of a secret 012'),
    };
    expect(readApiConfig(environment)).toMatchObject({ databaseUrl: url, redis: { url: 'redis://redis.example' } });
    // of a running npm start it then takes nothing
    expect(readCliConfig({ DATABASE_URL: 'postgres://stack/x' }, environment).database().url).toBe(url);
  });

  it('is not looked for where the variable is empty, or the setting is no secret', () => {
    const given = { JWT_SECRET_FILE: '', JWT_SECRET: 'a', LOG_NAME_FILE: '/nowhere' };
    expect(withSecretFiles(settings, given)).toEqual(given);
  });

  it.each([
    ['/nowhere/key', {}, /^LOG_KEY_FILE must be a file that can be read, not "\/nowhere\/key" \(ENOENT\)$/],
    [inFile('\n'), {}, /^LOG_KEY_FILE must be a file with the secret in it; .* is empty$/],
    [inFile('a'), { LOG_KEY: 'a' }, /^LOG_KEY_FILE must be unset where LOG_KEY is set$/],
  ])(
    'that is missing, empty, or beside the setting itself is reported in one line: %s, %j',
    (LOG_KEY_FILE, rest, says) => {
      expect(() => withSecretFiles(settings, { LOG_KEY_FILE, ...rest })).toThrow(says);
    },
  );
});
