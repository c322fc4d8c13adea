import { describe, expect, it } from 'vitest';
import { listAllKeys } from '#libs/tenants/keys';
import { createTenantCache } from '#libs/tenants/tenant-cache';
import { hashApiKey, noteKeyUse } from '#libs/tenants/tenants';
import { atEnd } from '../support/at-end.ts';
import { untilWaiting } from '../support/lock-waits.ts';
import { openPool } from '../support/pool.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { url, db, sql } = await openDatabase();
const byHash = (one: string, other: string) => (hashApiKey(one) < hashApiKey(other) ? -1 : 1);

describe('the use of a key', () => {
  const lastUse = async (domainId: string) =>
    (await db.run((sql) => listAllKeys(sql, domainId)))[0]?.lastUsedAt ?? null;

  it('is shown, and a key that was not used shows nothing', async () => {
    const { domainIds, apiKeys } = await makeTenant(db, { domains: 2 });
    // the time of the use, not of the note: a key that is revoked in between was not used after that
    const time = Date.now() - 30_000;
    await db.run((pool) => noteKeyUse(pool, new Map([[hashApiKey(at(apiKeys, 0)), time]])));
    expect((await lastUse(at(domainIds, 0)))?.getTime()).toBe(time);
    expect(await lastUse(at(domainIds, 1))).toBeNull();
  });

  it('is noted in the order of the hashes, so that two processes cannot deadlock', async () => {
    const { apiKeys } = await makeTenant(db, { domains: 8 });
    const [first = '', ...others] = apiKeys.map(hashApiKey).sort();
    // a process holds the first key in the order; the next one must wait for it before it holds any other
    const { noting } = await db.run((pool) =>
      pool.begin(async (holder) => {
        await holder`select from api_keys where hash = decode(${first}, 'hex') for update`;
        const uses = new Map([...others.toReversed(), first].map((hash) => [hash, Date.now()]));
        const noting = db.run((other) => noteKeyUse(other, uses));
        await untilWaiting(sql, '%api_keys%');
        const rest = await holder`
          select from api_keys where hash in (select decode(h, 'hex') from unnest(${others}::text[]) as h)
          for update nowait`;
        expect(rest).toHaveLength(7);
        return { noting };
      }),
    );
    await noting;
  });

  it.each(['waits', 'fails'])('keeps no revoked key alive while its note %s', async (how) => {
    const { domainIds, apiKeys } = await makeTenant(db, { domains: 2 });
    // first the one that the note comes to first: while it waits, it holds no other
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
    const revokeMeanwhile = async () => {
      await eventually(async () => expect((await cache.domainOfKey(revoked))?.domainId).toBe(domainId));
      // the note of this key is under way, or has failed
      await cache.domainOfKey(used);
      if (how === 'waits') await untilWaiting(sql, '%api_keys%');
      else await eventually(() => expect(warnings).toBeGreaterThan(0));
      // not through the administration: a row that is held would let it wait as well
      await sql`update api_keys set revoked_at = now() where hash = decode(${hashApiKey(revoked)}, 'hex')`;
      await sql`
        insert into administrative_acts (actor, act, subject) values ('test', 'key.revoke', ${hashApiKey(revoked)})`;
      await eventually(async () => expect(await cache.domainOfKey(revoked)).toBeNull());
    };
    if (how === 'waits')
      await db.run((pool) =>
        pool.begin(async (holder) => {
          await holder`select from api_keys where hash = decode(${hashApiKey(used)}, 'hex') for update`;
          await revokeMeanwhile();
        }),
      );
    else {
      await sql`alter table api_keys rename column last_used_at to last_used_away`;
      await revokeMeanwhile().finally(() => sql`alter table api_keys rename column last_used_away to last_used_at`);
    }
  });
});
