/** A domain that disappears while its records come in at full rate, mixed with those of others. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { createProducer } from '#libs/queue/produce';
import { listRejected } from '#libs/store/records/rejected';
import type { Database } from '#libs/store/sql';
import { replay } from '../../apps/cli/records.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { openConsumer } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { runCli } from '../support/service.ts';
import { at, type OwnStores, openStores } from '../support/stack.ts';
import { makeTenant, openRedis, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const jobs = 10;
const jobLength = 20;

describe('a flood of which half belongs to a domain that is gone', () => {
  let stores: OwnStores;
  let tenant: Tenant;
  let alive: string;
  let gone: string;

  beforeAll(async () => {
    stores = await openStores();
    tenant = await makeTenant(stores.db, { domains: 2 });
    [alive = '', gone = ''] = tenant.domainIds;
    await stores.db.run((sql) => sql`delete from api_keys where domain_id = ${gone}`);
    await stores.db.run((sql) => sql`delete from domains where id = ${gone}`);
  });

  /** Every other record of a job is the other domain's. Each job is there twice, as after a lost answer. */
  const flood = (other: string): NewRecord[][] => {
    const now = Date.now();
    const once = Array.from({ length: jobs }, (_, job) =>
      Array.from({ length: jobLength }, (_, index) =>
        recordAt(now - job, { domainId: index % 2 === 0 ? alive : other, visitorId: `v-${job}-${index}` }),
      ),
    );
    return [...once, ...once];
  };
  const countStored = async (domainId: string) => {
    const [row] = await stores.db.run(
      (sql) =>
        sql<
          { n: number }[]
        >`select count(*) as n from records where domain_number = (select number from domains where id = ${domainId})`,
    );
    return row?.n ?? 0;
  };

  /** Queues the flood, and returns what it cost a worker to deal with it. */
  const consume = async (batches: NewRecord[][]) => {
    const producer = createProducer(await openRedis(stores.redis.url), 1);
    await producer.ready();
    await Promise.all(batches.map((batch) => producer.add(0, batch)));
    const before = await countStored(alive);
    let statements = 0;
    const counting: Database = {
      ...stores.db,
      run: (work, deadline) => {
        statements += 1;
        return stores.db.run(work, deadline);
      },
    };
    const consumer = await openConsumer({ redis: stores.redis.url, postgres: stores.env.DATABASE_URL }, counting);
    const [queue] = producer.queues();
    await eventually(
      async () => {
        expect(await queue?.getJobCounts('waiting', 'active', 'delayed', 'failed')).toEqual({
          waiting: 0,
          active: 0,
          delayed: 0,
          failed: 0,
        });
      },
      { within: 50_000 },
    );
    await consumer.close();
    await producer.close();
    return { statements, stored: (await countStored(alive)) - before };
  };

  const listAll = async () => {
    const all: { id: number; record: NewRecord }[] = [];
    for (;;) {
      const page = await stores.db.run((sql) => listRejected(sql, { limit: 30, after: all.at(-1)?.id }));
      if (page.length === 0) return all;
      all.push(...page.map(({ id, record }) => ({ id, record: JSON.parse(record) as NewRecord })));
    }
  };

  it('costs a batch one statement more, is listed once, and is stored by a replay once the domain is back', async () => {
    const batches = flood(gone);
    const found = await consume(batches);
    const records = batches.slice(0, jobs).flat();
    const lost = records.filter(({ domainId }) => domainId === gone);
    expect(found.stored).toBe(records.length - lost.length);
    // a batch costs two statements instead of one: for what is stored, and for what is not
    expect(found.statements).toBeLessThanOrEqual(2 * batches.length);
    const list = await listAll();
    expect(list.map(({ record }) => record.id).sort()).toEqual(lost.map(({ id }) => id).sort());

    const { stdout } = await runCli(
      stores.env,
      ...['records', 'rejected', '--limit', '3', '--after', String(at(list, 2).id), '--json'],
    );
    const page: { id: number }[] = JSON.parse(stdout).rejected;
    expect(page.map(({ id }) => id)).toEqual(list.slice(3, 6).map(({ id }) => id));

    expect(await replay(stores.db, 30)).toEqual({ replayed: lost.length, stored: 0, rejected: lost.length });
    expect(await listAll()).toEqual(list);
    await stores.db.run(
      (sql) => sql`insert into domains (id, organization_id, name) values (${gone}, ${tenant.organizationId}, 'back')`,
    );
    expect(await replay(stores.db, 30)).toEqual({ replayed: lost.length, stored: lost.length, rejected: 0 });
    expect(await listAll()).toEqual([]);
    expect(await countStored(gone)).toBe(lost.length);
    const { organizationId } = tenant;
    expect(await storedCounters(stores.db, organizationId)).toEqual(await countRecords(stores.db, organizationId));
  });
});
