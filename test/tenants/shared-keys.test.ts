/** Keys that all processes have to share: another than the one in force is refused. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { compareKeys } from '#libs/base/db/key-fingerprints';
import { readApiConfig } from '../../apps/settings/api.ts';
import { readWorkerConfig } from '../../apps/settings/worker.ts';
import { createCli } from '../support/cli.ts';
import { openGate } from '../support/gate.ts';
import { runApi, runWorker, startApiProcess } from '../support/service.ts';
import { apiSettings, privacyKey, secretsKey, workerSettings } from '../support/settings.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const other = '00112233445566778899aabbccddeeff'.repeat(2);
const hashed = { IP_MODE: 'hashed', IP_HASH_KEY: 'a key of at least thirty-two bytes' };
const refusal = (name: string) => new RegExp(`^${name} must be the key that this database is used with; [^\\n]+$`);

const stores = await openStores();
const env = { ...stores.env, ...sealSettings, ...hashed };
const tenant = await makeTenant(stores.db);
type Settings = Record<string, string>;
const keysOf = {
  worker: (settings: Settings) => readWorkerConfig({ ...workerSettings, ...env, ...settings }).keys,
  API: (settings: Settings) => readApiConfig({ ...apiSettings, ...env, ...settings }).keys,
};
/** What each does when it starts. */
const compare = (of: keyof typeof keysOf, settings: Settings = {}) =>
  compareKeys(stores.db, keysOf[of](settings)).compared;

for (const of of ['worker', 'API'] as const) await compare(of);

describe('keys', () => {
  it('stand in Postgres as fingerprints alone', async () => {
    const rows = await stores.sql<{ name: string; row: string }>`
      select name, k::text as row from key_fingerprints as k order by name`;
    expect(rows.map(({ name }) => name)).toEqual(['IP_HASH_KEY', 'LOG_KEY', 'PRIVACY_KEY', 'SECRETS_KEY']);
    const keys = [hashed.IP_HASH_KEY, sealSettings.LOG_KEY, privacyKey, secretsKey];
    for (const { row } of rows) for (const key of keys) expect(row).not.toContain(key.slice(0, 8));
  });

  it.each([
    ['worker', runWorker],
    ['API', runApi],
  ] as const)('a second %s with one of its own does not start', async (of, run) => {
    await expect(run({ ...env, PRIVACY_KEY: other })).rejects.toThrow(refusal('PRIVACY_KEY'));
    for (const { name } of keysOf[of]({})) await expect(compare(of, { [name]: other })).rejects.toThrow(refusal(name));
    const started = await run(env);
    expect(await started.stop()).toBe(true);
  });

  it('a command with another one does nothing', async () => {
    const file = path.join(inject('folder'), 'one-row.ndjson');
    writeFileSync(file, '{"id":"a","decidedAt":"2026-01-01T00:00:00Z","decision":"accept_all","ip":"192.0.2.1"}\n');
    const { organizationId } = tenant;
    for (const [name, ...command] of [
      ['PRIVACY_KEY', 'visitor', 'erase', 'v', '--org', organizationId],
      ['PRIVACY_KEY', 'visitor', 'erase', '--replay'],
      ['SECRETS_KEY', 'webhook', 'create', organizationId, 'https://receiver.example/'],
      ['IP_HASH_KEY', 'records', 'import', file, '--domain', at(tenant.domainIds, 0)],
    ] as const) {
      expect(await createCli({ ...env, [name]: other }).error(...command)).toMatch(refusal(name));
    }
    const [counts] = await stores.sql`
      select (select count(*)::int from tombstones) as tombstones, (select count(*)::int from webhooks) as webhooks,
        (select count(*)::int from records) as records`;
    expect(counts).toEqual({ tombstones: 0, webhooks: 0, records: 0 });
  });

  it('are replaced where the one before is set, which counts until a process starts without it', async () => {
    const rotated = { SECRETS_KEY: other, PRIVACY_KEY: other };
    const both = { ...rotated, SECRETS_KEY_PREVIOUS: secretsKey, PRIVACY_KEY_PREVIOUS: privacyKey };
    await compare('worker', both);
    // not restarted with the new settings yet
    await compare('API');
    const webhook = ['webhook', 'create', tenant.organizationId, 'https://receiver.example/'];
    expect(await createCli(env).error(...webhook)).toMatch(refusal('SECRETS_KEY'));
    await createCli({ ...env, ...rotated }).json(...webhook);
    await createCli({ ...env, ...both }).json('webhook', 'reseal');
    for (const of of ['API', 'worker'] as const) await compare(of, rotated);
    for (const [name, key] of [
      ['PRIVACY_KEY', privacyKey],
      ['SECRETS_KEY', secretsKey],
    ] as const)
      await expect(compare('API', { ...rotated, [name]: key })).rejects.toThrow(refusal(name));
    // and back
    await compare('worker', { SECRETS_KEY_PREVIOUS: other, PRIVACY_KEY_PREVIOUS: other });
    await compare('worker');
  });

  it('an API that starts while Postgres is away stops once it is there, with that line', async () => {
    const gate = await openGate(stores.env.DATABASE_URL);
    gate.shut();
    const api = await startApiProcess({ ...env, DATABASE_URL: gate.url, PRIVACY_KEY: other });
    gate.open();
    expect(await api.process.exited).toEqual({ code: 1, signal: null });
    // it may be gone before its output was read
    await eventually(() => expect(api.lines.filter((line) => refusal('PRIVACY_KEY').test(line))).toHaveLength(1));
  });
});
