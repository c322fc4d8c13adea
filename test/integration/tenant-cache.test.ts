import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BatcherFull } from '#libs/runtime/batcher';
import { createDatabase, type Database } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { createTenantCache, type TenantCache } from '#libs/store/tenants/tenant-cache';
import { hashApiKey, makeApiKey } from '#libs/store/tenants/tenants';
import { atEnd } from '../support/at-end.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';
import { eventually, withinASecond } from '../support/wait.ts';

/** The real database, and how often it was asked. */
const counted = (db: Database): Database & { asked: number } => ({
  asked: 0,
  run(work, deadline) {
    this.asked += 1;
    return db.run(work, deadline);
  },
  recover: () => false,
  generation: () => 0,
  running: () => 0,
  unavailableSince: () => null,
  close: () => db.close(),
});

describe('the tenant cache', () => {
  let db: Database;
  let asking: Database & { asked: number };
  let caches: TenantCache[];
  let cache: TenantCache;
  let unfollowed: TenantCache;
  const tenants: Tenant[] = [];
  let tenant: Tenant;
  let domainId: string;
  let apiKey: string;
  const admin = () => createAdministration(db, 'tester');

  beforeAll(async () => {
    const { url, db: own } = await openDatabase();
    db = own;
    await admin().setPlan('other', {});
    // before the caches follow, so that what they forget later is what the tests change
    for (let n = 0; n < 21; n += 1) tenants.push(await makeTenant(db, { domains: 2 }));
    const open = async () => {
      const options = { url, max: 2, statementTimeout: 2_000, deadline: 2_300, prepare: true, name: 'cache' };
      const pool = createDatabase(options);
      const made = createTenantCache(pool, { warn: () => {} });
      await made.follow();
      atEnd(() => {
        made.close();
        return pool.close();
      });
      return made;
    };
    caches = await Promise.all([open(), open()]);
    const [first] = caches;
    if (!first) throw new Error('no cache');
    cache = first;
  });
  beforeEach(() => {
    const next = tenants.pop();
    if (!next) throw new Error('no tenant left');
    tenant = next;
    [domainId = ''] = tenant.domainIds;
    [apiKey = ''] = tenant.apiKeys;
    asking = counted(db);
    unfollowed = createTenantCache(asking, { warn: () => {} });
  });

  const everywhere = <T>(check: (one: TenantCache) => Promise<T>) => Promise.all(caches.map(check));

  it('a new key works at once, and opens its own domain only', async () => {
    expect(await cache.domainOfKey(apiKey)).toEqual({
      domainId,
      organizationId: tenant.organizationId,
      name: 'site-0.example',
      origins: [],
    });
  });

  it('a key that was asked for before it existed works within a second, also where no act tells of it', async () => {
    const key = makeApiKey();
    expect(await unfollowed.domainOfKey(key)).toBeNull();
    await db.run(
      (sql) => sql`
        insert into api_keys (hash, domain_id, prefix) values (decode(${hashApiKey(key)}, 'hex'), ${domainId}, 'ak_')`,
    );
    await eventually(async () => expect((await unfollowed.domainOfKey(key))?.domainId).toBe(domainId), withinASecond);
  });

  it('a revoked key stops within a second in every process, and its sister goes on', async () => {
    const { apiKey: sister } = await admin().createKey(domainId);
    await everywhere((one) => one.domainOfKey(apiKey));
    await everywhere((one) => one.domainOfKey(sister));
    await admin().revokeKey(domainId, apiKey);
    await eventually(async () => {
      expect(await everywhere((one) => one.domainOfKey(apiKey))).toEqual([null, null]);
    }, withinASecond);
    for (const found of await everywhere((one) => one.domainOfKey(sister))) expect(found?.domainId).toBe(domainId);
  });

  it('a key revoked while it is being looked up is not remembered as good', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => admin().createKey(domainId)));
    await Promise.all(
      keys.map(({ apiKey: key }) =>
        Promise.all([admin().revokeKey(domainId, key), everywhere((one) => one.domainOfKey(key))]),
      ),
    );
    await eventually(async () => {
      for (const { apiKey: key } of keys) expect(await everywhere((one) => one.domainOfKey(key))).toEqual([null, null]);
    }, withinASecond);
  });

  it('what a lookup read before a change that was seen meanwhile is not remembered', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let lookups: number | undefined;
    let read = 0;
    let changed = false;
    let changeSeen = false;
    // the real database; only the answers of the two lookups come late
    const slow: Database = {
      run: async (work, deadline) => {
        const isLookup = lookups !== undefined && lookups < 2;
        if (isLookup) lookups = (lookups ?? 0) + 1;
        const afterChange = changed;
        const result = await db.run(work, deadline);
        if (isLookup) {
          read += 1;
          await held;
        } else if (afterChange) changeSeen = true;
        return result;
      },
      recover: () => false,
      generation: () => 0,
      running: () => 0,
      unavailableSince: () => null,
      close: () => db.close(),
    };
    const late = createTenantCache(slow, { warn: () => {} });
    await late.follow();
    try {
      // the next poll is half a second away
      lookups = 0;
      const asked = Promise.all([late.domainOfKey(apiKey), late.organization(tenant.organizationId)]);
      await eventually(() => expect(read).toBe(2));
      await admin().revokeKey(domainId, apiKey);
      await admin().setOrganizationPlan(tenant.organizationId, 'other');
      changed = true;
      await eventually(() => expect(changeSeen).toBe(true));
      release();
      await asked;
      expect(await late.domainOfKey(apiKey)).toBeNull();
      expect((await late.organization(tenant.organizationId))?.plan.name).toBe('other');
    } finally {
      late.close();
    }
  });

  it("a plan's change and an organization's change of plan arrive within a second", async () => {
    const { organizationId } = tenant;
    const plans = () => everywhere(async (one) => (await one.organization(organizationId))?.plan);
    const [before] = await plans();
    expect(before).toMatchObject({ consentLog: true, monthlyRecordLimit: null });
    const name = before?.name ?? '';
    await admin().setPlan(name, { consentLog: false, monthlyRecordLimit: 5 });
    const changed = { name, consentLog: false, monthlyRecordLimit: 5 };
    await eventually(async () => expect(await plans()).toEqual([changed, changed]), withinASecond);

    const other = `${name}-other`;
    await admin().setPlan(other, { monthlyRecordLimit: 7 });
    await admin().setOrganizationPlan(organizationId, other);
    const moved = { name: other, consentLog: true, monthlyRecordLimit: 7 };
    await eventually(async () => expect(await plans()).toEqual([moved, moved]), withinASecond);
  });

  it.each(['', '\0', 'dom_\0', 'dom x', 'd'.repeat(65), 'd'.repeat(10_000)])(
    'what can be no id of a domain is not looked up: %j',
    async (id) => {
      const found = await Promise.all([unfollowed.domain(id), unfollowed.domain(domainId)]);
      expect(found.map((domain) => domain?.domainId)).toEqual([undefined, domainId]);
      const { asked } = asking;
      expect(await unfollowed.domain(id)).toBeNull();
      expect(asking.asked).toBe(asked);
    },
  );

  it('what can be no id of a domain never reaches Postgres, also when it comes alone', async () => {
    expect(await unfollowed.domain('\0')).toBeNull();
    expect(await unfollowed.domain('d'.repeat(65))).toBeNull();
    expect(asking.asked).toBe(0);
  });

  it('a new domain is in its organization and known itself within a second', async () => {
    const { organizationId } = tenant;
    const id = `late-${organizationId}`;
    await everywhere((one) => one.organization(organizationId));
    expect(await everywhere((one) => one.domain(id))).toEqual([null, null]);
    const domain = { domainId: id, organizationId, name: 'late.example', origins: ['https://x'] };
    await admin().createDomain(organizationId, domain);
    await eventually(async () => {
      expect(await everywhere((one) => one.domain(id))).toEqual([domain, domain]);
      for (const organization of await everywhere((one) => one.organization(organizationId)))
        expect(organization?.domains).toContainEqual({ domainId: id, name: 'late.example' });
    }, withinASecond);
  });

  it('a new domain leaves the keys of all others known', async () => {
    await cache.domainOfKey(apiKey);
    expect(cache.knownDomainOfKey(apiKey)?.domainId).toBe(domainId);
    expect((await cache.organization(tenant.organizationId))?.domains).toHaveLength(2);
    const { domainId: made } = await admin().createDomain(tenant.organizationId, { name: 'made', origins: [] });
    // what was known of the organization is given up once the act has been seen
    await eventually(async () => {
      const organization = await cache.organization(tenant.organizationId);
      expect(organization?.domains.map((each) => each.domainId)).toContain(made);
    }, withinASecond);
    expect(cache.knownDomainOfKey(apiKey)?.domainId).toBe(domainId);
  });

  it("a domain's own keys are asked for anew when it changes", async () => {
    await cache.domainOfKey(apiKey);
    await db.run(async (sql) => {
      await sql`update domains set origins = '{https://new.example}' where id = ${domainId}`;
      await sql`
        insert into administrative_acts (actor, act, subject, details)
        values ('tester', 'domain.origins', ${domainId}, '{}')`;
    });
    await eventually(async () => {
      expect((await cache.domainOfKey(apiKey))?.origins).toEqual(['https://new.example']);
    }, withinASecond);
  });

  it('what is known is answered without a query', async () => {
    await unfollowed.follow();
    try {
      await Promise.all([unfollowed.domainOfKey(apiKey), unfollowed.organization(tenant.organizationId)]);
      const asked = asking.asked;
      for (let n = 0; n < 100; n += 1) {
        void unfollowed.domainOfKey(apiKey);
        await unfollowed.organization(tenant.organizationId);
      }
      // the poll may have asked meanwhile
      expect(asking.asked - asked).toBeLessThan(3);
    } finally {
      unfollowed.close();
    }
  });

  it('many guesses at once share a few queries, and a repeated guess makes none', async () => {
    // with time it would be forgotten
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const guesses = Array.from({ length: 1_000 }, makeApiKey);
    const found = await Promise.all([...guesses, apiKey].map((key) => unfollowed.domainOfKey(key)));
    expect(found.filter((domain) => domain !== null)).toHaveLength(1);
    expect(asking.asked).toBeLessThanOrEqual(3);
    const asked = asking.asked;
    await Promise.all(guesses.map((key) => unfollowed.domainOfKey(key)));
    expect(asking.asked).toBe(asked);
  });

  it('guesses are remembered in a bounded number: the first of very many is asked for again', async () => {
    // time would have it forgotten, too
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const first = makeApiKey();
    await unfollowed.domainOfKey(first);
    for (let wave = 0; wave < 4; wave += 1)
      await Promise.all(Array.from({ length: 2_500 }, () => unfollowed.domainOfKey(makeApiKey())));
    const asked = asking.asked;
    await unfollowed.domainOfKey(first);
    expect(asking.asked).toBe(asked + 1);
    await unfollowed.domainOfKey(first);
    expect(asking.asked).toBe(asked + 1);
  });

  it('what cannot be a key makes no query', async () => {
    for (const key of ['', 'ak_', 'ak_short', `ak_${'x'.repeat(65)}`, `${apiKey}!`, apiKey.slice(3), `${apiKey}\n`])
      expect(await unfollowed.domainOfKey(key)).toBeNull();
    expect(asking.asked).toBe(0);
  });

  it('a flood of guesses is bounded: what is too much is refused, and nothing is the worse for it', async () => {
    const flood = Array.from({ length: 6_000 }, () => unfollowed.domainOfKey(makeApiKey()));
    const results = await Promise.allSettled(flood);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(1_000);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(BatcherFull);
    expect(asking.asked).toBe(10);
    expect((await unfollowed.domainOfKey(apiKey))?.domainId).toBe(domainId);
  });
});
