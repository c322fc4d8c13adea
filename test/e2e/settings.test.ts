import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProcess } from '../support/service.ts';
import { jwtSecret } from '../support/settings.ts';
import { eventually } from '../support/wait.ts';

const secret = 'hunter2';
const good = {
  PORT: '0',
  OPS_PORT: '0',
  HOST: '127.0.0.1',
  DATABASE_URL: `postgres://assent:${secret}@127.0.0.1:1/assent`,
  REDIS_URL: `redis://:${secret}@127.0.0.1:1`,
  JWT_SECRET: jwtSecret,
};
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString();

/** Exit 1 and exactly one line, which names the setting and holds nothing secret. */
async function expectOneLine(main: string, env: Record<string, string>, says: RegExp): Promise<void> {
  const service = startProcess(main, { ...good, ...env });
  const { code } = await service.process.exited;
  // a process may be gone before its output was read
  await eventually(() => expect(service.lines.length).toBeGreaterThan(0));
  expect({ code, lines: service.lines }).toEqual({ code: 1, lines: [expect.stringMatching(says)] });
  expect(service.lines[0]).not.toContain(secret);
  expect(service.lines[0]).not.toContain(jwtSecret);
}

describe.concurrent('a bad setting stops the process at start with one line that names it', () => {
  it.each<[string, string, Record<string, string>]>([
    ['api', 'PORT', { PORT: 'http' }],
    ['api', 'DATABASE_URL', { DATABASE_URL: '' }],
    ['api', 'DATABASE_URL', { DATABASE_URL: `mysql://root:${secret}@localhost/x` }],
    ['api', 'DATABASE_URL', { DATABASE_URL: `postgres://root:${secret}%zz@localhost/x` }],
    ['api', 'REDIS_URL', { REDIS_URL: `redis://:${secret}%zz@localhost` }],
    ['api', 'REDIS_URL', { REDIS_URL: `http://:${secret}@localhost` }],
    ['api', 'JWT_SECRET', { JWT_SECRET: secret }],
    ['api', 'JWT_PUBLIC_KEY', { JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: ecKey }],
    ['api', 'GEOIP_FILE', { GEOIP_FILE: '/nowhere/countries.mmdb' }],
    ['api', 'GEOIP_FILE', { GEOIP_FILE: 'package.json', WEB_CONCURRENCY: '2' }],
    ['api', 'WEB_CONCURRENCY', { WEB_CONCURRENCY: '0' }],
    ['api', 'IP_HASH_KEY', { IP_MODE: 'hashed' }],
    ['worker', 'DATABASE_URL', { DATABASE_URL: '' }],
    ['worker', 'REDIS_URL', { REDIS_URL: secret }],
    ['worker', 'LOG_LEVEL', { LOG_LEVEL: 'loud' }],
  ])('%s: %s with %j', async (main, setting, env) => {
    await expectOneLine(main, env, new RegExp(`^${setting} `));
  });
});

describe.concurrent('a port that is taken stops the process with one line that names it', () => {
  const server = createServer();
  let port: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    port = String(typeof address === 'object' && address ? address.port : '');
  });
  afterAll(() => {
    server.close();
  });

  it.each<[string, string, Record<string, string>]>([
    ['api', 'PORT', {}],
    ['api', 'OPS_PORT', {}],
    ['worker', 'OPS_PORT', {}],
    ['api', 'OPS_PORT', { WEB_CONCURRENCY: '2' }],
  ])('%s: %s with %j', async (main, setting, env) => {
    await expectOneLine(
      main,
      { LOG_LEVEL: 'error', ...env, [setting]: port },
      new RegExp(`^${setting} ${port} .*taken`),
    );
  });

  it('an API of several processes whose port is taken ends too', async () => {
    const service = startProcess('api', { ...good, LOG_LEVEL: 'silent', WEB_CONCURRENCY: '2', PORT: port });
    const { code } = await service.process.exited;
    // a process may be gone before its output was read
    await eventually(() => expect(service.lines.length).toBeGreaterThan(0));
    expect(code).toBe(1);
  });
});
