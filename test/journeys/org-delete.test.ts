import { userInfo } from 'node:os';
import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '#libs/base/secret-box';
import { readNotice } from '#libs/notices/contract';
import { putManagedNotice } from '#libs/notices/documents';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { keepRejected } from '#libs/record/rejected';
import { createAdministration } from '#libs/tenants/administration';
import { createPerform } from '#libs/tenants/audited-change';
import { closeOrganization, deleteDomains, deleteRows } from '#libs/tenants/deletion';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import { tables } from '../../apps/cli/org-delete.ts';
import { keysWith, tablesWith } from '../../scripts/stack/places-with.ts';
import { createPublisher } from '../support/banner.ts';
import { createCli } from '../support/cli.ts';
import { request, tokenFor } from '../support/client.ts';
import { addAccount, invite } from '../support/people.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { secretsKey } from '../support/settings.ts';
import { at, startStack } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const needle = 'needle-77ab01';
/** of a record of others */
const kept: Partial<NewRecord> = { visitorId: 'stays', userAgent: 'Stays/1', metadata: {} };

const recordsOf = (domainId: string, count: number, fields: Partial<NewRecord> = {}) =>
  Array.from({ length: count }, (_, index) =>
    recordAt(Date.now() - index, {
      domainId,
      visitorId: `${needle}-${index}`,
      userAgent: `Needle/7 (${needle})`,
      metadata: { customer: needle },
      ...fields,
    }),
  );
const count = (table: string) =>
  stack.db.run(async (sql) => (await sql.unsafe(`select count(*)::int as count from ${table}`))[0]?.count as number);
const numberOf = async (email: string) =>
  (await stack.sql<{ number: number }>`select number from people where email = ${email}`)[0]?.number;
const sealed = (domainId: string, entries: number) =>
  eventually(async () => {
    const [log] = await stack.sql<{ size: number }>`
      select checkpoint_size::int as size from logs join domains on number = domain_number
      where domains.id = ${domainId}`;
    expect(log?.size).toBeGreaterThanOrEqual(entries);
  });
const ask = (method: string, path: string) =>
  request(stack.api.baseUrl, path, {
    method,
    headers: {
      authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'read privacy manage' })}`,
    },
  });

const stack = await startStack({ sealed: true, tenant: { domains: 2 } });
const cli = createCli({ ...stack.env, SECRETS_KEY: secretsKey });
const redis = await openRedis(stack.redis.url);
const queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
const others = await makeTenant(stack.db);
const { domainId } = stack;
await createPublisher(stack).publish({ company: needle });
const notice = readNotice(Buffer.from(JSON.stringify({ language: 'en', title: needle })));
if ('refused' in notice) throw new Error(notice.refused);
await putManagedNotice(createPerform(stack.db, 'test'), domainId, notice);
await persist(stack.db, recordsOf(domainId, 300, { notice: notice.hash }), { owe: true });
await persist(stack.db, recordsOf(at(stack.tenant.domainIds, 1), 10), { owe: true });
await persist(stack.db, recordsOf(at(others.domainIds, 0), 10, kept), { owe: true });
await createWebhookAdministration(stack.db, 'test').create(
  stack.tenant.organizationId,
  { url: `https://${needle}.invalid/`, types: ['records.sealed'], domains: null, decisions: null },
  createSecretBox(Buffer.from(secretsKey, 'hex')),
);
await invite(stack.db, stack.tenant.organizationId, `${needle}@example.com`, ['read']);
await addAccount(stack.db, { ...stack.tenant, email: `${needle}.too@example.com` });
const staying = await addAccount(stack.db, stack.tenant);
await createAdministration(stack.db, 'test').addPerson(
  others.organizationId,
  { email: staying.email, personNumber: await numberOf(staying.email) },
  { scopes: ['read'] },
);
await sealed(domainId, 300);
await sealed(at(others.domainIds, 0), 10);
await ask('DELETE', `/v1/organization/visitors/${needle}-0`);
await ask('GET', `/v1/organization/visitors/${needle}-1`);
await queue.add('record', packJob(recordsOf(domainId, 5)), { delay: 3_600_000 });
const mixed = [...recordsOf(domainId, 2), ...recordsOf(at(others.domainIds, 0), 2, kept)];
await queue.add('record', packJob(mixed), { delay: 3_600_000 });
await stack.db.run((sql) =>
  keepRejected(
    sql,
    [domainId, at(others.domainIds, 0)].flatMap((id) =>
      recordsOf(id, 1, { ...kept, visitorId: id }).map((record) => ({ record, errorCode: '22008', error: 'late' })),
    ),
  ),
);

describe('an organization that is deleted', () => {
  it('is asked for twice', async () => {
    expect(await cli.error('org', 'delete', stack.tenant.organizationId)).toMatch(
      /^to delete "Organization .*" with its domains \(2\) and all their records for good, give --yes$/,
    );
    expect(await cli.error('org', 'delete', 'org_none', '--yes')).toBe('no organization org_none');
    expect((await stack.client.organization()).status).toBe(200);
  });

  it('is in no table and no key any more, but for one act and its ids; others lose nothing', async () => {
    const { organizationId, domainIds } = stack.tenant;
    for (const id of [organizationId, ...domainIds]) {
      expect((await tablesWith(stack.db, id)).length + (await keysWith(redis.client, id)).length).toBeGreaterThan(3);
    }
    const owned = await stack.sql<{ number: number }>`
      select number from domains where organization_id = ${organizationId}`;
    const numbers = owned.map(({ number }) => number);
    const deleted = { organizationId, domains: 2, records: 310, jobs: 2 };
    expect(await cli.json('org', 'delete', organizationId, '--yes')).toEqual(deleted);
    for (const id of domainIds) {
      expect(await tablesWith(stack.db, id)).toEqual(['public.deleted_ids']);
      expect(await keysWith(redis.client, id)).toEqual([]);
    }
    expect((await tablesWith(stack.db, organizationId)).toSorted()).toEqual([
      'public.administrative_acts',
      'public.deleted_ids',
    ]);
    expect(await keysWith(redis.client, organizationId)).toEqual([]);
    for (const { name: table } of tables.filter(({ by }) => by === 'domain_number')) {
      const [row] = await stack.db.run(
        (sql) => sql<{ left: number }[]>`
          select count(*)::int as left from ${sql(table)} where domain_number = any(${numbers})`,
      );
      expect([table, row?.left]).toEqual([table, 0]);
    }
    // the text of their user agents goes with the worker's next look
    expect(await numberOf(staying.email)).toBeGreaterThan(0);
    expect((await tablesWith(stack.db, needle)).filter((name) => name !== 'public.user_agents')).toEqual([]);
    const { acts } = await cli.json<{ acts: object[] }>('acts');
    expect(acts[0]).toMatchObject({
      actor: userInfo().username,
      act: 'org.delete',
      subject: organizationId,
      details: { domains: 2 },
    });
    expect(JSON.stringify(acts.slice(1))).not.toContain(organizationId);

    expect([await count('records'), await count('logs'), await count('rejected_records')]).toEqual([10, 1, 1]);
    const [left] = await queue.getDelayed();
    expect(JSON.stringify(left?.data)).toContain(at(others.domainIds, 0));
    expect(await cli.json('log', 'check')).toEqual({ checked: 10, comparedWithRedis: true, differences: [] });
  });

  it('lets nobody in, takes nothing that comes late, and its ids are not given again', async () => {
    const { status } = await stack.client.organization();
    const { status: recording } = await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    expect([status, recording]).toEqual([401, 401]);
    await queue.add('record', packJob(recordsOf(stack.domainId, 3)));
    await eventually(async () =>
      expect(await queue.getJobCounts('waiting', 'active')).toEqual({ waiting: 0, active: 0 }),
    );
    expect([await count('records'), await count('rejected_records')]).toEqual([10, 1]);
    const again = await cli.error('domain', 'create', others.organizationId, 'x', '--id', stack.domainId);
    expect(again).toBe(`there was a domain ${stack.domainId}, and ids are not given again`);
  });

  it('leaves no record behind whose statement had begun before, and ends after all else is gone', async () => {
    const late = await makeTenant(stack.db);
    const own = openPool(stack.env.DATABASE_URL, { max: 2, statementTimeout: 0, deadline: 170_000 });
    await own.run((sql) =>
      sql.unsafe(`
        create function wait_for_the_test() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock_shared(1);
          return new;
        end $$;
        create trigger wait_for_the_test before insert on records for each row
          when (new.visitor_id = 'late') execute function wait_for_the_test()`),
    );
    const storing = await own.transaction(async (sql) => {
      await sql`set local idle_in_transaction_session_timeout = 0`;
      await sql`select pg_advisory_xact_lock(1)`;
      const begun = persist(own, [recordAt(Date.now(), { domainId: at(late.domainIds, 0), visitorId: 'late' })]);
      const deleting = cli.json('org', 'delete', late.organizationId, '--yes');
      await eventually(async () =>
        expect(await stack.sql`select from domains where organization_id = ${late.organizationId}`).toEqual([]),
      );
      return { begun, deleting };
    }, 170_000);
    expect((await storing.begun).added).toBe(1);
    expect(await storing.deleting).toEqual({ organizationId: late.organizationId, domains: 1, records: 1, jobs: 0 });
    expect(await stack.sql`select from records where visitor_id = 'late'`).toEqual([]);
    expect((await tablesWith(stack.db, late.organizationId)).toSorted()).toEqual([
      'public.administrative_acts',
      'public.deleted_ids',
    ]);
  });

  it('is deleted to the end by a second run, though the first was cut off when its domains were gone', async () => {
    const { organizationId, domainIds } = await makeTenant(stack.db, { domains: 2 });
    const leaving = await closeOrganization(stack.db, 'test', organizationId);
    if (!leaving) throw new Error('there is no organization');
    await deleteRows(stack.db, leaving, tables, () => {});
    await deleteDomains(stack.db, leaving);
    // as a statement does that had begun before
    await stack.db.run(
      (sql) => sql`
        insert into records select (jsonb_populate_record(r, ${sql.json({ domain_number: at(leaving.domains, 0).number })})).*
        from records r limit 1`,
    );
    const deleted = { organizationId, domains: 2, records: 1, jobs: 0 };
    expect(await cli.json('org', 'delete', organizationId, '--yes')).toEqual(deleted);
    expect((await tablesWith(stack.db, organizationId)).toSorted()).toEqual([
      'public.administrative_acts',
      'public.deleted_ids',
    ]);
    for (const id of domainIds) expect(await tablesWith(stack.db, id)).toEqual(['public.deleted_ids']);
  });

  it('every table that says whose a row is, says so in its list', async () => {
    const rows = await stack.sql<{ table: string; column: string }>`
        select c.table_name as table, c.column_name as column
        from information_schema.columns c join pg_class on relname = c.table_name and not relispartition
        where c.table_schema = 'public' and relkind in ('r', 'p')
          and c.column_name in ('domain_number', 'domain_id', 'organization_number', 'organization_id', 'webhook')`;
    const listed = new Set(tables.flatMap(({ name, by }) => (by === undefined ? [] : [name])));
    /** Where a domain's number is a place to go on from, or one's names are. */
    const others = ['domains', 'organizations', 'derivations', 'notice_counting', 'facet_progress'];
    others.push('user_agents', 'user_agent_look');
    const missing = rows.filter(({ table }) => !listed.has(table) && !others.includes(table));
    expect(missing).toEqual([]);
    expect([...listed].filter((table) => !rows.some((row) => row.table === table))).toEqual([]);
  });
});
