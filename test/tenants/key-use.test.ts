import { describe, expect, it } from 'vitest';
import { listAllKeys } from '#libs/tenants/keys';
import { createTenantCache } from '#libs/tenants/tenant-cache';
import { hashApiKey, noteKeyUse } from '#libs/tenants/tenants';
import { atEnd } from '../support/at-end.ts';
import { openPool } from '../support/pool.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type TestDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { url, db } = (await openDatabase()) satisfies TestDatabase;

describe('the use of a key', () => {
  const lastUse = async (domainId: string) =>
    (await db.run((sql) => listAllKeys(sql, domainId)))[0]?.lastUsedAt ?? null;

  it('is shown, and a key that was not used shows nothing', async () => {
    const { domainIds, apiKeys } = await makeTenant(db, { domains: 2 });
    // the time of the use, not of the note: a key that is revoked in between was not used after that
    const time = Date.now() - 30_000;
    await db.run((sql) => noteKeyUse(sql, new Map([[hashApiKey(at(apiKeys, 0)), time]])));
    expect((await lastUse(at(domainIds, 0)))?.getTime()).toBe(time);
    expect(await lastUse(at(domainIds, 1))).toBeNull();
  });

  it('is noted in the order of the hashes, so that two processes cannot deadlock', async () => {
    const { apiKeys } = await makeTenant(db, { domains: 8 });
    const hashes = apiKeys.map(hashApiKey).sort();
    // a process holds the first key in the order; whoever comes then must wait for it before it holds any other
    await db
      .run((sql) =>
        sql.begin(async (holder) => {
          await holder`select from api_keys where hash = decode(${at(hashes, 0)}, 'hex') for update`;
          const noting = db.run((other) =>
            noteKeyUse(other, new Map(hashes.toReversed().map((hash) => [hash, Date.now()]))),
          );
          await eventually(async () => {
            const [row] = await db.run(
              (other) => other<{ n: number }[]>`
              select count(*) as n from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock' and query like '%api_keys%'`,
            );
            expect(row?.n).toBe(1);
          });
          const rest = await holder`
          select from api_keys where hash in (select decode(h, 'hex') from unnest(${hashes.slice(1)}::text[]) as h)
          for update nowait`;
          expect(rest).toHaveLength(7);
          return { noting };
        }),
      )
      .then(({ noting }) => noting);
  });

  it.each([
    [
      'waits',
      async (work: () => Promise<void>, key: string) => {
        await db.run((sql) =>
          sql.begin(async (holder) => {
            await holder`select from api_keys where hash = decode(${hashApiKey(key)}, 'hex') for update`;
            await work();
          }),
        );
      },
    ],
    [
      'fails',
      async (work: () => Promise<void>) => {
        await db.run((sql) => sql`alter table api_keys rename column last_used_at to last_used_away`);
        try {
          await work();
        } finally {
          await db.run((sql) => sql`alter table api_keys rename column last_used_away to last_used_at`);
        }
      },
    ],
  ])('keeps no revoked key alive while its note %s', async (how, during) => {
    const { domainIds, apiKeys } = await makeTenant(db, { domains: 2 });
    // first the one that the note comes to first: while it waits, it holds no other
    const byHash = (one: string, other: string) => (hashApiKey(one) < hashApiKey(other) ? -1 : 1);
    const [used = '', revoked = ''] = apiKeys.toSorted(byHash);
    const domainId = at(domainIds, apiKeys.indexOf(revoked));
    const pool = openPool(url, { max: 4, statementTimeout: 8_000, deadline: 10_000, name: 'cache' });
    let warnings = 0;
    const warn = () => {
      warnings += 1;
    };
    const cache = createTenantCache(pool, { warn }, { noteUseEvery: 10 });
    atEnd(() => cache.close());
    await cache.follow();
    await during(async () => {
      await eventually(async () => expect((await cache.domainOfKey(revoked))?.domainId).toBe(domainId));
      // the note of this key is under way, or has failed
      await cache.domainOfKey(used);
      await eventually(async () => {
        const [row] = await db.run(
          (sql) => sql<{ n: number }[]>`
            select count(*) as n from pg_stat_activity
            where application_name = 'cache' and wait_event_type = 'Lock' and query like '%api_keys%'`,
        );
        expect(how === 'waits' ? row?.n : warnings).toBeGreaterThan(0);
      });
      // not through the administration: a row that is held would let it wait as well
      await db.run(
        (sql) => sql`update api_keys set revoked_at = now() where hash = decode(${hashApiKey(revoked)}, 'hex')`,
      );
      await db.run(
        (sql) => sql`insert into administrative_acts (actor, act, subject)
          values ('test', 'key.revoke', ${hashApiKey(revoked)})`,
      );
      await eventually(async () => expect(await cache.domainOfKey(revoked)).toBeNull());
    }, used);
  });
});
