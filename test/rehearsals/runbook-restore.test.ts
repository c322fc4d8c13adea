/** Postgres is lost and restored to a moment, beside an API that goes on, by the commands of docs/runbooks.md. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { createAdministration } from '#libs/tenants/administration';
import { freePort } from '../../scripts/stack/ports.ts';
import { type RunningPostgres, startPostgres } from '../../scripts/stack/postgres.ts';
import { reachableFolder, removeFolder, serviceUser, writeFor } from '../../scripts/stack/service-user.ts';
import { runCommand } from '../../scripts/stack/tether.ts';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { countStored } from '../support/counts.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { blocksIn, sectionOf } from '../support/documents.ts';
import { findPostgresClients } from '../support/postgres-clients.ts';
import { startReceiver } from '../support/receiver.ts';
import { openRunbook, page, type Runbook } from '../support/runbook.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { at, sealSettings } from '../support/stack.ts';
import { connectDatabase, makeTenant, openRedisServer, type Tenant, type TestDatabase } from '../support/stores.ts';
import { eraseVisitor, untilRedisKnowsErased } from '../support/tombstones.ts';
import { eventually } from '../support/wait.ts';

interface Delivered {
  domainId: string;
  log: number;
  first: number;
  entries: { position: number; type: string; id: string }[];
}

const clients = await findPostgresClients();
const settings = { fsync: 'off' };

/** Postgres' settings of the page, for an archive in that folder. */
function archiving(folder: string): string {
  const heading = '### A base backup and the write-ahead log';
  const block = blocksIn(page, sectionOf(page, heading)).find(({ language }) => language === 'text');
  return block?.text.replaceAll('/backup/wal', folder) ?? '';
}

const crontab = blocksIn(page, sectionOf(page, '### Every night')).at(0)?.text ?? '';

describe.skipIf(clients === undefined)('Postgres restored to a moment (with the client programs of Postgres)', () => {
  let folder: string;
  let source: RunningPostgres;
  let restored: RunningPostgres;
  let later: RunningPostgres | undefined;
  let before: TestDatabase;
  let after: TestDatabase;
  let runbook: Runbook;
  let tenant: Tenant;
  let api: ApiProcess;
  let env: Record<string, string>;
  let emptyRedis: string;
  let options: { cwd: string; values: Record<string, string> };
  let beforeMoment: string;
  let moment: string;
  let laterMoment: string;
  const receiver = startReceiver();
  /** what was delivered, by domain, log and position */
  const delivered = new Map<string, Set<string>>();

  const domain = (index: number) => at(tenant.domainIds, index);
  const key = (index: number) => at(tenant.apiKeys, index);
  const record = async (from: ApiProcess, domainId: string, apiKey: string, visitorId: string) => {
    const client = createClient(from.baseUrl, tenant);
    const { status, body } = await client.record(domainId, apiKey, { decision: 'accept_all', visitorId });
    expect(status, JSON.stringify(body)).toBe(202);
    return body.id;
  };
  const untilSealed = ({ db }: TestDatabase, records: number) =>
    eventually(async () => {
      const [row] = await db.run(
        (sql) => sql<{ sealed: number }[]>`select coalesce(sum(checkpoint_size), 0)::int as sealed from logs`,
      );
      expect(row?.sealed).toBe(records);
    });
  const now = async ({ db }: TestDatabase) => {
    const [row] = await db.run((sql) => sql<{ now: string }[]>`select clock_timestamp()::text as now`);
    return row?.now ?? '';
  };
  /** what the runbook has made of the base backup */
  const startRestored = (name: string) => {
    const dataDir = reachableFolder(path.join(folder, name));
    renameSync(path.join(folder, 'restored'), path.join(dataDir, 'cluster'));
    copyFileSync(path.join(source.dataDir, 'password'), path.join(dataDir, 'password'));
    return startPostgres({ dataDir, settings });
  };
  /** It is restored, and then stopped again, so that it ends with this test. */
  const startAsWritten = async () => {
    const port = String(await freePort());
    const given = { ...options, asPostgres: true, values: { 5433: port } };
    appendFileSync(path.join(folder, 'restored/postgresql.conf'), "unix_socket_directories = ''\n");
    await runbook.step('pg_ctl', env, given);
    try {
      const there = { ...env, RESTORED_URL: source.url.replace(/:\d+\//, `:${port}/`) };
      // the last change before the moment
      const [, replayed = ''] = /^f\|(.+)$/m.exec(await runbook.step('pg_is_in_recovery', there)) ?? [];
      const [from = 0, told = 0, to = 0] = [beforeMoment, replayed, moment].map((text) => Date.parse(text));
      expect({ replayed, isLate: told >= from, isEarly: told <= to }).toEqual({
        replayed,
        isLate: true,
        isEarly: true,
      });
    } finally {
      await runbook.run('pg_ctl --pgdata="$RESTORED" --wait stop', env, given);
    }
    // one that was not restored says so
    const asked =
      "psql service=admin --tuples-only --no-align --command='select pg_is_in_recovery(), pg_last_xact_replay_timestamp()'";
    expect(await runbook.run(asked, { ...env, ADMIN_URL: sharedPostgresUrl() })).toMatch(/^f\|$/m);
  };
  const configure = ({ dataDir }: RunningPostgres, lines: string) =>
    appendFileSync(path.join(dataDir, 'cluster', 'postgresql.conf'), lines);
  const filesOf = (location: string, timeline: string) =>
    readdirSync(location).filter((file) => file.startsWith(timeline));
  const read = async () => {
    const { received } = await receiver;
    for (const { message } of received.splice(0)) {
      const { domainId, log, entries } = message.data as unknown as Delivered;
      for (const { position, type, id } of entries) {
        if (type !== 'record') continue;
        const place = `${domainId} ${log} ${position}`;
        delivered.set(place, (delivered.get(place) ?? new Set()).add(id));
      }
    }
    return delivered;
  };
  const countErased = async ({ db }: TestDatabase, visitorId: string) => {
    const [row] = await db.run(
      (sql) => sql<{ left: number; erased: number }[]>`
        select count(*) filter (where visitor_id = ${visitorId})::int as left, count(erased_at)::int as erased from records`,
    );
    return row;
  };

  beforeAll(async () => {
    folder = reachableFolder(path.join(inject('folder'), 'restore'));
    const archive = reachableFolder(path.join(folder, 'wal'));
    reachableFolder(path.join(folder, 'base'));
    mkdirSync(path.join(folder, 'assent'));
    const [redis, empty] = await Promise.all([openRedisServer(), openRedisServer()]);
    emptyRedis = empty.url;
    const dataDir = path.join(folder, 'source');
    source = await startPostgres({ dataDir, settings });
    atEnd(async () => {
      await Promise.all([source.stop(), restored?.stop(), later?.stop()]);
      removeFolder(folder);
    });
    // in its own file, which a base backup brings along
    configure(source, archiving(archive));
    await source.stop();
    source = await startPostgres({ dataDir, settings });
    await migrate(source.url);
    before = connectDatabase(source.url);
    tenant = await makeTenant(before.db, { domains: 2 });
    env = {
      DATABASE_URL: source.url,
      REDIS_URL: redis.url,
      ...sealSettings,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ADMIN_URL: source.url,
      ARCHIVE: archive,
      RESTORED: path.join(folder, 'restored'),
    };
    options = { cwd: folder, values: { '/backup/': `${folder}/` } };
    api = await startApiProcess(env);
    runbook = await openRunbook('## Back up', '## Restore');
  });

  it('is backed up: tombstones, a dump, a base backup', async () => {
    const worker = await startWorkerProcess(env);
    await createCli(env).json('webhook', 'create', tenant.organizationId, (await receiver).url);
    for (let each = 0; each < 4; each += 1) await record(api, domain(each % 2), key(each % 2), 'erased-later');
    await untilSealed(before, 4);
    await runbook.step('tombstones.ndjson', env, options);
    await runbook.step('pg_dump', env, options);
    await runbook.step('pg_basebackup', env, { ...options, asPostgres: true });
    const only = (...names: string[]) => {
      const location = path.join(folder, ...names);
      return path.join(location, readdirSync(location).find((file) => file !== 'tombstones.ndjson') ?? '');
    };
    const [BASE, DUMP] = [only('base'), only('assent')];
    env = { ...env, BASE, OLDEST: BASE, DUMP };
    await runbook.step('pg_archivecleanup', env, options);
    for (const [, user, command = ''] of crontab.matchAll(/^(?:\S+ ){5}(assent|postgres) (.*)$/gm)) {
      const here = { '. /etc/assent/env': ':', 'cd /opt/assent': ':', 'base/$(date +%F)': 'base/nightly' };
      const given = { ...options, values: { ...here, ...options.values }, asPostgres: user === 'postgres' };
      await runbook.run(command.replaceAll('\\%', '%'), env, given);
    }
    expect(readdirSync(path.join(folder, 'base'))).toHaveLength(2);
    beforeMoment = await now(before);
    for (let each = 0; each < 3; each += 1) await record(api, domain(0), key(0), `kept-${each}`);
    await untilSealed(before, 7);
    moment = await now(before);
    // what the moment does not know
    const admin = createAdministration(before.db, 'test');
    await admin.createDomain(tenant.organizationId, { name: 'late.example', origins: [], domainId: 'late' });
    tenant.apiKeys.push((await admin.createKey('late')).apiKey);
    tenant.domainIds.push('late');
    await admin.revokeKey(domain(1), key(1));
    await eventually(async () => {
      const { status } = await createClient(api.baseUrl, tenant).record(domain(1), key(1), { decision: 'nothing' });
      expect(status).toBe(401);
    });
    for (let each = 0; each < 5; each += 1) await record(api, domain(0), key(0), 'lost');
    await record(api, 'late', key(2), 'lost');
    await untilSealed(before, 13);
    laterMoment = await now(before);
    expect(await eraseVisitor(api.baseUrl, tenant.organizationId, 'erased-later')).toBe(200);
    await untilRedisKnowsErased(before.db);
    // four erasures are entries too, so that Redis remembers more of both logs than the moment has
    await untilSealed(before, 17);
    await createCli(env).run('visitor', 'tombstones', '--out', path.join(folder, 'assent/tombstones.ndjson'));
    await eventually(async () => expect((await read()).size).toBe(13));
    await worker.stop();
  });

  it('is lost: the API goes on without it', async () => {
    await runbook.step('pg_switch_wal', env);
    await before.db.close();
    await source.stop();
    for (let each = 0; each < 3; each += 1) await record(api, domain(0), key(0), 'waits');
    await record(api, 'late', key(2), 'waits');
    expect((await createClient(api.baseUrl, tenant).stats(domain(0), 'from=2026-01-01&to=2027-12-31')).status).toBe(
      200,
    );
    expect((await createClient(api.baseUrl, tenant).records(domain(0))).status).toBe(503);
  });

  it('is restored elsewhere, and erasures are repeated before anybody reads', async () => {
    const dumped = await createEmptyDatabase(sharedPostgresUrl());
    await runbook.step('pg_restore', { ...env, RESTORED_URL: dumped }, options);
    await runbook.step('recovery.signal', { ...env, RESTORE_TO: moment }, { ...options, asPostgres: true });
    await startAsWritten();
    restored = await startRestored('after');
    env.RESTORED_URL = restored.url;
    after = connectDatabase(restored.url);
    // as if the dump were on the old server
    const name = (url: string) => new URL(url).pathname.slice(1);
    const onOld = { ...env, DATABASE_URL: dumped, ADMIN_URL: sharedPostgresUrl(), DATABASE: name(dumped) };
    await runbook.step('allow_connections', onOld);
    await expect(createCli({ DATABASE_URL: dumped, REDIS_URL: emptyRedis }).error('acts')).resolves.toMatch(/Postgres/);
    expect(await countErased(after, 'erased-later')).toEqual({ left: 4, erased: 0 });
    expect(await runbook.step('erase --replay', env)).toMatch(/visitors +1\n/);
    expect(await countErased(after, 'erased-later')).toEqual({ left: 0, erased: 4 });
    const lost = { ...env, REDIS_URL: emptyRedis };
    expect(await runbook.step('--from /backup', lost, options)).toMatch(/tombstones +1\n/);
    expect((await createCli(lost).run('visitor', 'tombstones')).stdout).toContain(tenant.organizationId);
    const another = name(await createEmptyDatabase(sharedPostgresUrl()));
    const values = { 'database restored rename': `database ${another} rename` };
    expect(await runbook.step('rename to', onOld, { values })).toMatch(/(ALTER DATABASE\n){2}/);
  });

  it('what waited is stored, logs that lack something begin anew, and all checks pass', async () => {
    const restoredEnv = { ...env, DATABASE_URL: restored.url };
    await startWorkerProcess(restoredEnv);
    const { db } = after;
    await eventually(async () => {
      const halted = await db.run((sql) => sql`select from logs where halted = 'behind'`);
      expect([await countStored(db), halted.count]).toEqual([10, 2]);
    });
    expect(await runbook.step('log status', env)).toMatch(/behind/);
    await runbook.step('--all-behind', env);
    // as where Redis was lost too
    await db.run(
      (sql) => sql`
        update logs set halted = 'unconfirmed' from domains
        where domains.number = domain_number and domains.id = ${domain(1)} and ended_at is null`,
    );
    await runbook.step('--log 9', { ...env, REDIS_URL: emptyRedis }, { values: { 'dom_…': domain(1) } });
    const sizes = (domainId: string) =>
      after.db.run(
        (sql) => sql<{ log: number; size: number }[]>`
        select log, checkpoint_size::int as size from logs join domains on number = domain_number
        where id = ${domainId} order by log`,
      );
    await eventually(async () => {
      // what waited, and the erasures of two records each
      expect(await sizes(domain(0))).toEqual([
        { log: 1, size: 5 },
        { log: 2, size: 5 },
      ]);
      const [first, ...others] = await sizes(domain(1));
      expect([first?.size, others.at(-1)?.log, others.reduce((sum, { size }) => sum + size, 0)]).toEqual([2, 9, 2]);
    });
    await api.stop();
    api = await startApiProcess(restoredEnv);
    const checks = await runbook.step('counters check', env);
    expect(checks).toMatch(/late/);
  });

  it('what the backup does not know is as the page says', async () => {
    const restoredEnv = { ...env, DATABASE_URL: restored.url };
    const cli = createCli(restoredEnv);
    // revoked since
    await record(api, domain(1), key(1), 'again');
    const refused = await createClient(api.baseUrl, tenant).record('late', key(2), { decision: 'accept_all' });
    expect(refused.status).toBe(401);
    await cli.run('domain', 'create', tenant.organizationId, 'late.example', '--id', 'late');
    expect(await cli.json('records', 'replay')).toMatchObject({ stored: 1 });
    // its log was there before, which Redis remembers
    await eventually(async () => {
      const [halted] = await after.db.run(
        (sql) => sql`select halted from logs join domains on number = domain_number where id = 'late'`,
      );
      expect(halted).toEqual({ halted: 'behind' });
    });
    await cli.run('log', 'restart', '--all-behind');
    const places = await eventually(async () => {
      const known = await read();
      expect([...known.keys()].filter((place) => place.startsWith(`${domain(0)} 2 `))).toHaveLength(3);
      expect(known.has('late 2 0')).toBe(true);
      return known;
    });
    // nothing else ever stood at a position of the log that was there before
    expect([...places].filter(([, ids]) => ids.size !== 1)).toEqual([]);
  });

  it('is restored once more from the same backup, to a later moment, whatever the first time left in the archive', async () => {
    const archive = env.ARCHIVE ?? '';
    expect(filesOf(archive, '00000002')).toEqual([]);
    // as a restored server leaves it that goes on archiving
    const written = path.join(restored.dataDir, 'cluster', 'pg_wal');
    const files = filesOf(written, '00000002');
    expect(files).toContain('00000002.history');
    for (const file of files) writeFor(serviceUser(), path.join(archive, file), readFileSync(path.join(written, file)));
    await runbook.again('recovery.signal', { ...env, RESTORE_TO: laterMoment }, { ...options, asPostgres: true });
    later = await startRestored('later');
    await runbook.again('pg_is_in_recovery', { ...env, RESTORED_URL: later.url });
    const { db } = connectDatabase(later.url);
    const [row] = await db.run(
      (sql) => sql`
        select (select count(*)::int from records) as records, (select count(*)::int from domains where id = 'late') as late`,
    );
    expect(row).toEqual({ records: 13, late: 1 });
    await db.close();
  });

  it('archives into a new folder afterwards, and its base backups know nothing of this restore', async () => {
    if (!later) throw new Error('it was not restored');
    const { dataDir, url } = later;
    const archive = reachableFolder(path.join(folder, 'wal-of-later'));
    await runbook.step('alter system reset', { ...env, ADMIN_URL: url });
    configure(later, archiving(archive));
    await later.stop();
    const own = readFileSync(path.join(dataDir, 'cluster', 'postgresql.auto.conf'), 'utf8');
    expect(own.match(/^(?!#).+/gm)).toBeNull();
    // as it stops it archives what it has
    later = await startPostgres({ dataDir, settings });
    await later.stop();
    expect(readdirSync(archive)).not.toEqual([]);
  });

  it('has no other command', () => {
    expect(runbook.left()).toEqual([]);
  });
});

describe('the archive command', () => {
  const run = async (folder: string, programs = '') => {
    const [, command = ''] = /^archive_command = '(.*)'$/m.exec(archiving(path.join(folder, 'wal'))) ?? [];
    const { code } = await runCommand('/bin/sh', ['-c', command.replaceAll('%p', 'segment').replaceAll('%f', '01')], {
      cwd: folder,
      env: { PATH: `${programs}${path.delimiter}${process.env.PATH}` },
    });
    return code;
  };

  it('takes a file whole or not at all, again if it is the same, and never overwrites another', async () => {
    const folder = mkdtempSync(path.join(inject('folder'), 'archive-'));
    const [archive, programs] = ['wal', 'programs'].map((name) => path.join(folder, name)) as [string, string];
    for (const each of [archive, programs]) mkdirSync(each);
    writeFileSync(path.join(folder, 'segment'), 'all of it');
    // the disk is full
    writeFileSync(path.join(programs, 'cp'), '#!/bin/sh\nhead -c 3 "$1" > "$2"\nexit 1\n', { mode: 0o755 });
    expect(await run(folder, programs)).not.toBe(0);
    expect(readdirSync(archive)).not.toContain('01');
    expect(await run(folder)).toBe(0);
    expect(readdirSync(archive)).toEqual(['01']);
    expect(readFileSync(path.join(archive, '01'), 'utf8')).toBe('all of it');
    expect(await run(folder)).toBe(0);
    writeFileSync(path.join(folder, 'segment'), 'another one');
    expect(await run(folder)).not.toBe(0);
    expect(readFileSync(path.join(archive, '01'), 'utf8')).toBe('all of it');
  });
});
