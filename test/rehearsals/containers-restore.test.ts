/**
 * Backing up, and restoring from a dump twice in a row, by the commands of docs/containers.md beside an API and a worker
 * that go on. `docker` is a script that runs on this machine what Compose would run in its containers.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { runCommand } from '../../scripts/stack/tether.ts';
import { createClient } from '../support/client.ts';
import { blocksIn, sectionOf } from '../support/documents.ts';
import { openOwnPostgres } from '../support/outage.ts';
import { findPostgresClients } from '../support/postgres-clients.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess, type WorkerProcess } from '../support/service.ts';
import { privacyKey } from '../support/settings.ts';
import { at, sealSettings } from '../support/stack.ts';
import { connectDatabase, makeTenant, openRedisServer, type Tenant, type TestDatabase } from '../support/stores.ts';
import { eraseVisitor } from '../support/tombstones.ts';
import { eventually } from '../support/wait.ts';

const clients = await findPostgresClients();
const page = 'docs/containers.md';
const blocksOf = (heading: string): string[] =>
  blocksIn(page, sectionOf(page, heading)).flatMap(({ language, text }) => (language === 'sh' ? [text] : []));

/** What a container has is here in variables, and in the file of the address of Postgres. */
const docker = `#!/bin/sh
set -eu
test "$1" = compose; shift
command=$1; shift
while :; do case "$1" in -*) shift ;; *) break ;; esac; done
service=$1; shift
case "$command $service" in
  'exec postgres') exec "$@" ;;
  'exec api' | 'run migrate') exec "$@" ;;
  'stop worker' | 'up worker') echo "$command $service" >> "$DOCKER_SAID" ;;
  *) echo "not known here: $command $service $*" >&2; exit 1 ;;
esac
`;

describe.skipIf(clients === undefined)(
  'containers are restored from a dump (with the client programs of Postgres)',
  () => {
    let folder: string;
    let env: Record<string, string>;
    let shell: (block: string) => Promise<string>;
    let database: TestDatabase;
    let tenant: Tenant;
    let api: ApiProcess;
    let worker: WorkerProcess;
    const backups = () => path.join(folder, 'backups');

    const domainId = () => at(tenant.domainIds, 0);
    const record = async (visitorId: string) => {
      const client = createClient(api.baseUrl, tenant);
      const { status } = await client.record(domainId(), at(tenant.apiKeys, 0), { decision: 'accept_all', visitorId });
      expect(status).toBe(202);
    };
    const erase = (visitorId: string) => eraseVisitor(api.baseUrl, tenant.organizationId, visitorId);
    /** who is in the log, by the API */
    const visitors = async (): Promise<string[]> => {
      const { status, body } = await createClient(api.baseUrl, tenant).records(domainId());
      expect(status).toBe(200);
      return body.records.map((each: { visitorId: string | null }) => String(each.visitorId)).sort();
    };
    /** of the newest record of the visitor; null until it is sealed */
    const positionOf = async (visitor: string) => {
      const { body } = await createClient(api.baseUrl, tenant).records(domainId());
      return body.records.find(({ visitorId }) => visitorId === visitor)?.position;
    };
    const sealed = async (): Promise<number> => {
      const [row] = await database.db.run(
        (sql) => sql<{ sealed: number }[]>`select coalesce(sum(checkpoint_size), 0)::int as sealed from logs`,
      );
      return row?.sealed ?? 0;
    };
    const untilSealed = (least: number) => eventually(async () => expect(await sealed()).toBeGreaterThanOrEqual(least));
    const untilLog = (state: 'is halted' | 'is sealed') =>
      eventually(async () => {
        const [log] = await database.db.run(
          (sql) => sql<{ halted: string | null; size: number }[]>`
            select halted, checkpoint_size::int as size from logs where ended_at is null`,
        );
        expect(state === 'is halted' ? log?.halted === 'behind' : log?.halted === null && log.size > 0).toBe(true);
      });
    /** the name of its dump: of two backups, the same on one day */
    const backUp = async (): Promise<string> => {
      await shell(blocksOf('### Back up with containers').at(0) ?? '');
      const files = readdirSync(backups()).sort().slice(-2);
      expect(files).toEqual([expect.stringMatching(/\.dump$/), 'tombstones.ndjson']);
      return files[0] ?? '';
    };
    const restore = async (dump: string, { erasedMeanwhile }: { erasedMeanwhile: string }) => {
      const [beside = '', close = '', replay = '', , rename = '', right = ''] = blocksOf('### Restore with containers');
      await worker.stop();
      await shell(beside.replace('2026-11-23.dump', dump));
      // into the old database, which is in use until it is closed
      expect(await erase(erasedMeanwhile)).toBe(200);
      await shell(close);
      // what is not answered with 200 has to be asked for again
      expect(await erase('refused')).toBe(503);
      await record('waits');
      const replayed = await shell(replay);
      expect(await erase('refused')).toBe(503);
      await shell(rename);
      worker = await startWorkerProcess(env);
      await untilLog('is halted');
      expect(await shell(right)).toMatch(/visitors +0\n/);
      await untilLog('is sealed');
      return replayed;
    };

    beforeAll(async () => {
      folder = mkdtempSync(path.join(inject('folder'), 'containers-'));
      const [postgres, redis] = await Promise.all([openOwnPostgres(), openRedisServer()]);
      database = connectDatabase(postgres.url);
      tenant = await makeTenant(database.db);
      env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...sealSettings };
      const [programs, secret] = [path.join(folder, 'programs'), path.join(folder, 'database-url')];
      mkdirSync(programs);
      writeFileSync(path.join(programs, 'docker'), docker, { mode: 0o755 });
      writeFileSync(secret, `${postgres.url}\n`);
      const { hostname, port, password } = new URL(postgres.url);
      const { DATABASE_URL, ...others } = env;
      shell = async (block) => {
        const here = block
          .replaceAll('/var/backups/assent', backups())
          .replaceAll('/opt/assent', folder)
          .replaceAll('/run/secrets/database_url', secret)
          .replaceAll('/tmp/erased', path.join(folder, 'erased'))
          .replaceAll('dist/apps', path.join(inject('dist'), 'apps'));
        const { code, output } = await runCommand('/bin/sh', ['-euc', here], {
          cwd: folder,
          env: {
            ...others,
            DATABASE_URL_FILE: secret,
            PRIVACY_KEY: privacyKey,
            DOCKER_SAID: path.join(folder, 'said'),
            PATH: [programs, clients, process.env.PATH].join(path.delimiter),
            PGHOST: hostname,
            PGPORT: port,
            PGPASSWORD: password,
          },
        });
        expect(code, output).toBe(0);
        return output;
      };
      [api, worker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
    });

    it('nobody who was erased comes back, whenever that was, and what waited is stored', async () => {
      for (const visitor of ['erased-before', 'erased-meanwhile', 'kept']) await record(visitor);
      await untilSealed(3);
      const dump = await backUp();
      await record('lost');
      expect(await erase('erased-before')).toBe(200);
      await untilSealed(5);
      expect(await restore(dump, { erasedMeanwhile: 'erased-meanwhile' })).toMatch(/visitors +2\n/);
      await eventually(async () => expect(await visitors()).toEqual(['kept', 'null', 'null', 'waits']));
      expect(await erase('refused')).toBe(200);
    });

    it('the backup after it holds the living database, and is restored in its turn', async () => {
      await record('after');
      await eventually(async () => expect(await visitors()).toContain('after'));
      const dump = await backUp();
      await record('lost');
      // what was sealed after the backup, the restored log lacks
      await eventually(async () => expect(await positionOf('lost')).toEqual(expect.any(Number)));
      expect(await restore(dump, { erasedMeanwhile: 'after' })).toMatch(/visitors +1\n/);
      const all = ['kept', 'null', 'null', 'null', 'waits', 'waits'];
      await eventually(async () => expect(await visitors()).toEqual(all));
    });

    it('with Redis lost as well, the file names who was erased', async () => {
      const [beside = '', close = '', , replay = '', rename = ''] = blocksOf('### Restore with containers');
      const dump = await backUp();
      await worker.stop();
      await shell(beside.replace('2026-11-23.dump', dump));
      await shell(close);
      expect(await shell(replay)).toMatch(/tombstones +4\n/);
      await shell(rename);
    });

    it('the superuser gets another password, which both files then have', async () => {
      const secrets = path.join(folder, 'secrets');
      mkdirSync(secrets);
      const [change = ''] = blocksOf('### The password of the superuser');
      const before = env.DATABASE_URL ?? '';
      await shell(change.replace('@postgres:5432/', `@${new URL(before).host}/`));
      const [address = '', password] = ['database-url', 'postgres-password'].map((name) =>
        readFileSync(path.join(secrets, name), 'utf8').trim(),
      );
      expect(new URL(address).password).toBe(password);
      const loginAt = (url: string) =>
        connectDatabase(url).db.run(async (sql) => (await sql`select current_user::text as login`)[0]);
      expect(await loginAt(address)).toEqual({ login: 'assent' });
      await expect(loginAt(before)).rejects.toThrow(/password authentication failed/);
    });
  },
);
