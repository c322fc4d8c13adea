import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BatcherFull, BatcherTimeout } from '#libs/base/batcher';
import { isUnavailable } from '#libs/base/db/errors';
import { createAdministration } from '#libs/tenants/administration';
import { createTenantCache, type TenantCache } from '#libs/tenants/tenant-cache';
import { findOrganizations, hashApiKey, makeApiKey } from '#libs/tenants/tenants';
import { atEnd } from '../support/at-end.ts';
import { openGate } from '../support/gate.ts';
import { counting, openPool, through } from '../support/pool.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';
import { eventually, withinASecond } from '../support/wait.ts';

const tenants: Tenant[] = [];
const admin = () => createAdministration(db, 'tester');

const { url, db, sql } = await openDatabase();
await admin().setPlan('other', {});
// before the caches follow, so that what they forget later is what the tests change
for (let n = 0; n < 12; n += 1) tenants.push(await makeTenant(db, { domains: 2 }));
const open = async () => {
  const made = createTenantCache(openPool(url), { warn: () => {} });
  await made.follow();
  atEnd(() => made.close());
  return made;
};
const caches = await Promise.all([open(), open()]);
const [first] = caches;
if (!first) throw new Error('no cache');
const cache = first;

describe('the tenant cache', () => {
  /** how often `unfollowed` has asked the database */
  let asked: () => number;
  let unfollowed: TenantCache;
  let tenant: Tenant;
  let domainId: string;
  let apiKey: string;
  beforeEach(() => {
    const next = tenants.pop();
    if (!next) throw new Error('no tenant left');
    tenant = next;
    [domainId = ''] = tenant.domainIds;
    [apiKey = ''] = tenant.apiKeys;
    const process = counting(db);
    ({ asked } = process);
    unfollowed = createTenantCache(process.db, { warn: () => {} });
  });

  /** On a slow machine what waits would wait for too long, and what is remembered would be forgotten. */
  const holdTime = (ahead = 0) => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + ahead);
    onTestFinished(() => clock.mockRestore());
  };
  const everywhere = <T>(check: (one: TenantCache) => Promise<T>) => Promise.all(caches.map(check));

  it('a key that was asked for before it existed works soon, also without an act about it', async () => {
    const key = makeApiKey();
    expect(await unfollowed.domainOfKey(key)).toBeNull();
    await sql`
        insert into api_keys (hash, domain_id, prefix) values (decode(${hashApiKey(key)}, 'hex'), ${domainId}, 'ak_')`;
    holdTime(501);
    expect((await unfollowed.domainOfKey(key))?.domainId).toBe(domainId);
  });

  it('a revoked key stops within a second in every process, and its sister goes on', async () => {
    const { apiKey: sister } = await admin().createKey(domainId);
    // what is read while a change is seen is not kept
    await everywhere((one) => one.catchUp());
    for (const key of [apiKey, sister]) await everywhere((one) => one.domainOfKey(key));
    expect(caches.map((one) => one.knownDomainOfKey(apiKey)?.domainId)).toEqual([domainId, domainId]);
    await admin().revokeKey(domainId, apiKey);
    await eventually(async () => {
      expect(await everywhere((one) => one.domainOfKey(apiKey))).toEqual([null, null]);
    }, withinASecond);
    for (const found of await everywhere((one) => one.domainOfKey(sister))) expect(found?.domainId).toBe(domainId);
  });

  it('what a lookup read before a change that was seen meanwhile is not remembered', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let read = 0;
    // the real database; only the answers of lookups, which are maps, come late
    const slow = through(db, async (ask) => {
      const result = await ask(db);
      if (result instanceof Map) {
        read += 1;
        await held;
      }
      return result;
    });
    const late = createTenantCache(slow, { warn: () => {} });
    atEnd(() => late.close());
    await late.follow();
    const asked = Promise.all([late.domainOfKey(apiKey), late.organization(tenant.organizationId)]);
    await eventually(() => expect(read).toBe(2));
    await admin().revokeKey(domainId, apiKey);
    await admin().setOrganizationPlan(tenant.organizationId, 'other');
    await late.catchUp();
    release();
    await asked;
    expect(await late.domainOfKey(apiKey)).toBeNull();
    expect((await late.organization(tenant.organizationId))?.plan.name).toBe('other');
  });

  it('what can be no id of a domain, or no key, makes no query', async () => {
    for (const id of ['', '\0', 'dom_\0', 'dom x', 'd'.repeat(65), 'd'.repeat(10_000)])
      expect(await unfollowed.domain(id)).toBeNull();
    for (const key of ['', 'ak_', 'ak_short', `ak_${'x'.repeat(65)}`, `${apiKey}!`, apiKey.slice(3), `${apiKey}\n`])
      expect(await unfollowed.domainOfKey(key)).toBeNull();
    expect(asked()).toBe(0);
  });

  it("a new domain becomes known and leaves the keys of all others known, and a domain's own keys are looked up again when it changes", async () => {
    // as above
    await cache.catchUp();
    await cache.domainOfKey(apiKey);
    const made = `late-${tenant.organizationId}`;
    expect(await cache.domain(made)).toBeNull();
    await admin().createDomain(tenant.organizationId, { domainId: made, name: 'late.example', origins: ['https://x'] });
    await cache.catchUp();
    expect(await cache.domain(made)).toMatchObject({ name: 'late.example', origins: ['https://x'] });
    const organization = await cache.organization(tenant.organizationId);
    expect(organization?.domains.get(made)).toEqual({ domainId: made, name: 'late.example' });
    expect(cache.knownDomainOfKey(apiKey)?.domainId).toBe(domainId);
    await admin().changeDomain(tenant.organizationId, domainId, { origins: ['https://new.example'] });
    await cache.catchUp();
    expect((await cache.domainOfKey(apiKey))?.origins).toEqual(['https://new.example']);
  });

  it("an act on a domain looks at that domain's keys, not at all that are known", async () => {
    const crowd = await makeTenant(db, { domains: 3 });
    const [changed = '', changedKey = ''] = [crowd.domainIds[0], crowd.apiKeys[0]];
    const looked = new Set<string>();
    const watch = (id: string, found: object) =>
      new Proxy(found, {
        get: (target, name) => {
          looked.add(id);
          return Reflect.get(target, name);
        },
      });
    // the real database; only what lookups find can be seen being read
    const seen = through(db, async (ask) => {
      const result = await ask(db);
      if (result instanceof Map) for (const [id, found] of result) result.set(id, watch(id, found));
      return result;
    });
    const watched = createTenantCache(seen, { warn: () => {} });
    atEnd(() => watched.close());
    await watched.follow();
    await Promise.all(crowd.apiKeys.map((key) => watched.domainOfKey(key)));
    looked.clear();
    await admin().changeDomain(crowd.organizationId, changed, { name: 'changed.example' });
    await watched.catchUp();
    expect(watched.knownDomainOfKey(changedKey)).toBeUndefined();
    expect([...looked]).toEqual([hashApiKey(changedKey)]);
  });

  it('a change costs what changed, not all that the organization holds', async () => {
    const { organizationId } = tenant;
    const more = 1_000;
    await sql`
      insert into domains (id, organization_id, name)
      select ${`${domainId}-`} || n, ${organizationId}, 'more-' || n from generate_series(1, ${more}) as n`;
    await sql`
      insert into revoked_tokens (organization_number, jti)
      select number, 'token-' || n from organizations, generate_series(1, ${more}) as n where id = ${organizationId}`;
    const gate = await openGate(url);
    const follower = createTenantCache(openPool(gate.url), { warn: () => {} });
    atEnd(() => follower.close());
    await follower.follow();
    const read = async () => {
      const before = gate.answered();
      await follower.catchUp();
      const organization = await follower.organization(organizationId);
      return { organization, bytes: gate.answered() - before };
    };
    const whole = (await read()).bytes;
    expect(whole).toBeGreaterThan(50 * more);
    const changes = [
      () => admin().changeDomain(organizationId, domainId, { name: 'changed.example' }),
      () => admin().createDomain(organizationId, { name: 'made.example', origins: [] }),
      () => admin().archiveDomain(organizationId, `${domainId}-1`),
      () => admin().revokeToken(organizationId, 'one more', undefined),
      () => admin().renameOrganization(organizationId, 'renamed'),
      () => admin().setOrganizationPlan(organizationId, 'other'),
      () => admin().setPlan('other', { monthlyRecordLimit: 7 }),
    ];
    for (const change of changes) {
      await change();
      const { organization, bytes } = await read();
      expect(bytes).toBeLessThan(whole / 10);
      expect(organization).toEqual(
        (await db.run((own) => findOrganizations(own, [organizationId]))).get(organizationId),
      );
    }
  });

  it('what is held of organizations is bounded by its size', async () => {
    const [one, two] = await Promise.all([makeTenant(db), makeTenant(db)]);
    for (const { organizationId } of [one, two])
      await sql`
        insert into domains (id, organization_id, name)
        select ${`${organizationId}-`} || n, ${organizationId}, 'more-' || n from generate_series(1, 300) as n`;
    const bounded = createTenantCache(db, { warn: () => {} }, { organizationBytes: 120_000 });
    atEnd(() => bounded.close());
    await bounded.follow();
    const held = await bounded.organization(one.organizationId);
    expect(await bounded.organization(one.organizationId)).toBe(held);
    await bounded.organization(two.organizationId);
    expect(await bounded.organization(one.organizationId)).not.toBe(held);
  });

  it('organizations are read a few at a time: where all are large, none waits for all others', async () => {
    holdTime();
    const before = asked();
    await Promise.all(Array.from({ length: 40 }, (_, number) => unfollowed.organization(`org-${number}`)));
    expect(asked() - before).toBe(5);
  });

  it('many guesses at once share a few queries, and a repeated guess makes none', async () => {
    holdTime();
    const guesses = Array.from({ length: 1_000 }, makeApiKey);
    const found = await Promise.all([...guesses, apiKey].map((key) => unfollowed.domainOfKey(key)));
    expect(found.filter((domain) => domain !== null)).toHaveLength(1);
    expect(asked()).toBeLessThanOrEqual(3);
    const before = asked();
    await Promise.all(guesses.map((key) => unfollowed.domainOfKey(key)));
    expect(asked()).toBe(before);
  });

  it('guesses are bounded: of a flood what is too much is refused, and of very many the first is asked for again', async () => {
    holdTime();
    const first = makeApiKey();
    await unfollowed.domainOfKey(first);
    const flood = (size: number) =>
      Promise.allSettled(Array.from({ length: size }, () => unfollowed.domainOfKey(makeApiKey())));
    const refused = (await flood(6_000)).filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(1_000);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(BatcherFull);
    expect(asked()).toBe(1 + 10);
    expect((await unfollowed.domainOfKey(apiKey))?.domainId).toBe(domainId);
    await flood(5_000);
    const before = asked();
    for (let again = 0; again < 2; again += 1) await unfollowed.domainOfKey(first);
    expect(asked()).toBe(before + 1);
  });

  it('while Postgres is away known ones are served and unknown ones an error, and after it changes arrive, also where acts are missing', async () => {
    const gate = await openGate(url);
    let failedPolls = 0;
    const warn = () => {
      failedPolls += 1;
    };
    const behind = createTenantCache(openPool(gate.url), { warn });
    atEnd(() => behind.close());
    const { organizationId, domainIds, apiKeys } = tenant;
    const [, neverAsked = ''] = apiKeys;
    const { apiKey: lost } = await admin().createKey(domainId);
    await behind.follow();
    expect(await behind.domainOfKey(lost)).not.toBeNull();
    const known = () =>
      Promise.all([behind.domainOfKey(apiKey), behind.domain(domainId), behind.organization(organizationId)]);
    const before = await known();

    gate.shut();
    await eventually(() => expect(failedPolls).toBeGreaterThan(0));
    const isNoAnswer = (error: unknown) => isUnavailable(error) || error instanceof BatcherTimeout;
    const unknown = [
      ...[neverAsked, makeApiKey()].map((key) => behind.domainOfKey(key)),
      ...[behind.domain('dom_never_asked'), behind.organization('org_never_asked')],
    ];
    await Promise.all(unknown.map((question) => expect(question).rejects.toSatisfy(isNoAnswer)));
    expect(await known()).toEqual(before);

    gate.open();
    await eventually(async () => expect((await behind.domainOfKey(neverAsked))?.domainId).toBe(domainIds[1]));
    // the same as before: what was known still is, without a lookup
    await behind.catchUp();
    expect(behind.knownDomainOfKey(apiKey)).toEqual(before[0]);
    // as where a replica takes its place, which has got neither the key nor the act, and then another one
    await db.run((sql) =>
      sql.begin(async (inside) => {
        await inside`delete from api_keys where hash = decode(${hashApiKey(lost)}, 'hex')`;
        await inside`delete from administrative_acts where subject = ${hashApiKey(lost)}`;
        await inside`insert into administrative_acts (actor, act, subject) values ('tester', 'domain.create', 'dom_other')`;
      }),
    );
    await behind.catchUp();
    expect(await behind.domainOfKey(lost)).toBeNull();
    await admin().revokeKey(domainId, apiKey);
    await behind.catchUp();
    expect(await behind.domainOfKey(apiKey)).toBeNull();
  });
});
