/** Who is next among webhooks, and what it costs to find out. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { claimLanes, type Lane } from '#libs/webhooks/claim';
import { lineUp } from '#libs/webhooks/lanes';
import type { Claiming } from '#libs/webhooks/turns';
import { openDatabase } from '../support/stores.ts';
import { rolledBack } from '../support/transaction.ts';

const { db, sql } = await openDatabase();
await sql`insert into plans (name) values ('plan')`;

describe('lanes that are due', () => {
  beforeEach(async () => void (await sql`truncate webhooks, organizations cascade`));

  /** Organizations with so many webhooks each, and so many lanes of each that are due after so many seconds. */
  const make = async (webhooks: number[], { lanes = 1, due = -1, url = 'https://hooks.example/' } = {}) => {
    await sql`
      insert into organizations (id, name, plan)
      select 'org_' || n, 'org_' || n, 'plan' from generate_series(1, ${webhooks.length}::integer) as n
      on conflict do nothing`;
    await sql`
      with made as (
        insert into webhooks (id, organization_id, url, types, secret)
        select gen_random_uuid()::text, 'org_' || n, ${url}, '{limit.reached}', ''
        from unnest(${webhooks}::integer[]) with ordinality as each (count, n), generate_series(1, count)
        returning number
      )
      insert into webhook_lanes (webhook, type, data, due_at)
      select number, 'limit.reached', '{}', clock_timestamp() + ${due} * interval '1 second'
      from made, generate_series(1, ${lanes}::integer)`;
  };
  const claiming = (given: Partial<Claiming> = {}): Claiming => ({
    by: randomUUID(),
    lease: 60_000,
    line: 'well',
    limit: 100,
    share: 100,
    perWebhook: 4,
    running: [],
    after: 0,
    lastWebhooks: new Map(),
    ...given,
  });
  const claim = (given?: Partial<Claiming>) => db.run((sql) => claimLanes(sql, claiming(given)));
  const organizationsOf = (lanes: Lane[]) => lanes.map(({ organizationId }) => organizationId);
  const counts = (names: (string | number)[]) =>
    Object.fromEntries(names.map((name) => [name, names.filter((each) => each === name).length]));
  const running = (lanes: Lane[]) => lanes.map((lane) => ({ ...lane, line: 'well' as const }));

  it('have turns over organizations and then over webhooks, within the shares, and the last turn is where the next begins', async () => {
    await make([50, 2, 1, 1], { lanes: 10 });
    await db.run(lineUp);
    const shares = { limit: 5, share: 3, perWebhook: 2 };
    const first = await claim(shares);
    expect(counts(organizationsOf(first.lanes))).toEqual({ org_1: 2, org_2: 1, org_3: 1, org_4: 1 });
    // two webhooks before a second lane of one
    expect(new Set(first.lanes.map(({ webhook }) => webhook)).size).toBe(5);
    const second = await claim({ ...shares, ...first, running: running(first.lanes), limit: 3 });
    expect(organizationsOf(second.lanes)).toEqual(['org_2', 'org_3', 'org_4']);
    const all = [...first.lanes, ...second.lanes];
    const third = await claim({ ...shares, ...second, after: 0, running: running(all), limit: 100 });
    // each has its share, or as much of one webhook as may be
    const held = [...all, ...third.lanes];
    expect(counts(organizationsOf(held))).toEqual({ org_1: 3, org_2: 3, org_3: 2, org_4: 2 });
    expect((await claim({ ...shares, after: 0, running: running(held), limit: 100 })).lanes).toEqual([]);
  });

  it('come by turns to each webhook of an organization, however much its others have', async () => {
    await make([7], { lanes: 20 });
    await db.run(lineUp);
    let lastWebhooks = new Map<number, number>();
    const webhooks: number[] = [];
    for (let count = 0; count < 14; count += 1) {
      const claimed = await claim({ lastWebhooks, limit: 1 });
      ({ lastWebhooks } = claimed);
      webhooks.push(...claimed.lanes.map(({ webhook }) => webhook));
    }
    expect(Object.values(counts(webhooks))).toEqual(Array(7).fill(2));
  });

  it('of a receiver that lets messages time out are taken one at a time, and its other organizations go on', async () => {
    await make([3, 2]);
    await make([1], { url: 'https://other.example/' });
    await db.run(lineUp);
    await sql`
      update webhooks set timed_out = true
      where number = (select min(number) from webhooks where organization_id = 'org_1')`;
    const { lanes } = await claim();
    expect(lanes.map(({ organizationId, receiver }) => `${organizationId} ${receiver}`).toSorted()).toEqual([
      'org_1 https://hooks.example',
      'org_1 https://other.example',
      'org_2 https://hooks.example',
      'org_2 https://hooks.example',
    ]);
    expect((await claim({ running: running(lanes) })).lanes).toEqual([]);
    await sql`update webhooks set timed_out = false`;
    expect((await claim({ running: running(lanes) })).lanes).toHaveLength(2);
  });

  /** What is read of all lanes, and how often the index is asked, to find the next ones. */
  const costOf = async (given?: Partial<Claiming>) => {
    await sql`vacuum analyze webhook_lanes, webhooks`;
    return rolledBack(db, (inside) =>
      inside.write(async (sql) => {
        // what the connection did before may be in it
        const read = async () => {
          const [row] = await sql<{ count: number }[]>`
            select sum(idx_scan + idx_tup_fetch + seq_tup_read)::integer as count
            from pg_stat_xact_user_tables where relname in ('webhook_lanes', 'webhooks')`;
          return row?.count ?? Number.NaN;
        };
        const before = await read();
        await lineUp(sql);
        const { lanes } = await claimLanes(sql, claiming(given));
        return { lanes: lanes.length, cost: (await read()) - before };
      }),
    );
  };

  it('cost what is due, not what waits: 10,000 webhooks that wait, and 10,000 organizations that are due', async () => {
    await make(Array(100).fill(100), { due: 3_600 });
    const idle = await costOf();
    expect(idle.lanes).toBe(0);
    expect(idle.cost).toBeLessThan(100);
    await make(Array(10_000).fill(1));
    await db.run(lineUp);
    await db.run(lineUp);
    const busy = await costOf({ limit: 10 });
    expect(busy.lanes).toBe(10);
    expect(busy.cost).toBeLessThan(2_000);
    // and each has its turn
    const seen = new Set<string>();
    let after = 0;
    do {
      const { lanes, ...next } = await claim({ after, limit: 1_000 });
      for (const each of organizationsOf(lanes)) seen.add(each);
      after = next.after;
    } while (after > 0);
    expect(seen.size).toBe(10_000);
  });
});
