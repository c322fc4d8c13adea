import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { listActs } from '#libs/tenants/acts';
import { createAdministration } from '#libs/tenants/administration';
import { createPerform } from '#libs/tenants/audited-change';
import { QuotaReached, Refused } from '#libs/tenants/change-errors';
import { closeOrganization } from '#libs/tenants/deletion';
import { listAllKeys } from '#libs/tenants/keys';
import { listOrganizations } from '#libs/tenants/organizations';
import { apiKeyPattern, findOrganizations, makeApiKey, mostRevoked } from '#libs/tenants/tenants';
import { openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');

const { db, sql } = await openDatabase();

describe('administration', () => {
  const acts = () => db.run(async (sql) => (await listActs(sql, { limit: 100 })).acts.reverse());

  it('a change of a process that stands still ends soon, so that others need not wait for it', async () => {
    const perform = createPerform(db, 'olga');
    const [row] = await perform(
      (inside) => inside`select current_setting('idle_in_transaction_session_timeout') as idle`,
    );
    expect(row?.idle).toBe('5s');
  });

  it('a change that is refused leaves neither itself nor an act', async () => {
    const admin = createAdministration(db, 'olga');
    await admin.setPlan('basic', {});
    const { organizationId } = await admin.createOrganization('One', 'basic');
    await admin.createDomain(organizationId, { domainId: 'taken', name: 'a.example', origins: [] });
    const before = await acts();
    for (const change of [
      () => admin.createOrganization('Two', 'no-such-plan'),
      () => admin.setOrganizationPlan('org_none', 'basic'),
      () => admin.setOrganizationPlan(organizationId, 'no-such-plan'),
      () => admin.createDomain('org_none', { name: 'b.example', origins: [] }),
      () => admin.createDomain(organizationId, { domainId: 'taken', name: 'b.example', origins: [] }),
      () => admin.createKey('dom_none'),
      () => admin.revokeKey('taken', 'ak_none'),
    ]) {
      await expect(change()).rejects.toBeInstanceOf(Refused);
    }
    expect(await acts()).toEqual(before);
    const organizations = await db.run((sql) => listOrganizations(sql));
    expect(organizations.map(({ name }) => name)).not.toContain('Two');
  });

  it('revoked tokens give way once they have expired, and where nobody knows when once all tokens are revoked', async () => {
    const admin = createAdministration(db, 'olga');
    await admin.setPlan('tokens', {});
    const { organizationId } = await admin.createOrganization('Tokens', 'tokens');
    const fill = () => sql`
      insert into revoked_tokens (organization_number, jti, revoked_at)
      select number, 'old-' || n, clock_timestamp() - interval '2 hours'
      from organizations, generate_series(1, ${mostRevoked}) as n where id = ${organizationId}`;
    const revoke = (jti: string, maxLifetime?: number) => admin.revokeToken(organizationId, jti, maxLifetime);
    const revoked = async () => [
      ...((await db.run((own) => findOrganizations(own, [organizationId]))).get(organizationId)?.revokedTokens ?? []),
    ];
    await fill();
    await expect(revoke('one')).rejects.toBeInstanceOf(QuotaReached);
    await admin.revokeTokens(organizationId);
    await revoke('lasting');
    // nothing waits that long
    await revoke('past', -7_200);
    expect(await revoked()).toEqual(['lasting']);
    await revoke('bounded', 3_600);
    expect((await revoked()).toSorted()).toEqual(['bounded', 'lasting']);
    const rows = await sql<{ jti: string; hours: number | null }>`
      select jti, round(extract(epoch from expires_at - revoked_at) / 3600)::int as hours from revoked_tokens
      where organization_number = (select number from organizations where id = ${organizationId}) order by jti`;
    expect(rows).toEqual([
      { jti: 'bounded', hours: 2 },
      { jti: 'lasting', hours: null },
    ]);
  });

  it('tokens of an organization that is being deleted stay refused', async () => {
    const admin = createAdministration(db, 'olga');
    await admin.setPlan('leaving', {});
    const { organizationId } = await admin.createOrganization('Leaving', 'leaving');
    await closeOrganization(db, 'olga', organizationId);
    await expect(admin.revokeTokens(organizationId)).rejects.toThrow('is being deleted');
  });

  it('an act becomes visible only after all that have a smaller id, so that a poll past the newest misses none', async () => {
    // holds back the commit of one act for as long as the test has the lock
    await db.run((sql) =>
      sql.unsafe(`
        create function hold_back() returns trigger language plpgsql as $$
          begin perform pg_advisory_xact_lock(42); return null; end $$;
        create constraint trigger hold_back after insert on administrative_acts deferrable initially deferred
          for each row when (new.subject = 'slow') execute function hold_back()`),
    );
    const waiting = () =>
      sql`
          select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`;
    const visible = async () =>
      (await acts()).map(({ subject }) => subject).filter((name) => ['slow', 'fast'].includes(name));
    const admin = createAdministration(db, 'olga');
    let both: Promise<unknown> = Promise.resolve();
    await db.run((sql) =>
      sql.begin(async (holder) => {
        await holder`select pg_advisory_xact_lock(42)`;
        const slow = admin.setPlan('slow', {});
        await eventually(async () => expect(await waiting()).toHaveLength(1));
        const fast = admin.setPlan('fast', {});
        both = Promise.all([slow, fast]);
        await eventually(async () => expect((await waiting()).length + (await visible()).length).toBe(2));
        expect(await visible()).toEqual([]);
      }),
    );
    await both;
    expect(await visible()).toEqual(['slow', 'fast']);
  });

  it('of keys only the hashes are stored, also of a revoked one; a prefix that fits two active ones revokes neither', async () => {
    const admin = createAdministration(db, 'olga');
    await admin.setPlan('basic', {});
    const { organizationId } = await admin.createOrganization('Rotating', 'basic');
    const { domainId } = await admin.createDomain(organizationId, { name: 'r.example', origins: [] });
    const keys: string[] = [];
    for (let n = 0; n < 2; n += 1) keys.push((await admin.createKey(domainId)).apiKey);
    for (const key of keys) expect(key).toMatch(apiKeyPattern);
    await expect(admin.revokeKey(domainId, 'ak_')).rejects.toThrow(/2 active keys/);
    // nor does it wait for who vacuums the acts
    await db.run((own) =>
      own.begin(async (vacuum) => {
        await vacuum`lock table administrative_acts in share update exclusive mode`;
        await admin.revokeKey(domainId, keys[0] ?? '');
      }),
    );
    const listed = await db.run((sql) => listAllKeys(sql, domainId));
    expect(listed.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
    for (const nothing of ['', 'ak', 'ak_'])
      await expect(admin.revokeKey(domainId, nothing)).rejects.toThrow(/every key begins with/);
    const rows = await sql`select *, encode(hash, 'hex') as hash from api_keys where domain_id = ${domainId}`;
    expect(rows.map(({ hash }) => hash).sort()).toEqual(keys.map(sha256).sort());
    for (const key of keys) expect(JSON.stringify(rows)).not.toContain(key.slice(11));
  });

  it('a key has at least 128 random bits behind the prefix that scanners look for', () => {
    const keys = Array.from({ length: 100 }, makeApiKey);
    for (const key of keys) {
      expect(key).toMatch(/^ak_[\w-]+$/);
      expect(Buffer.from(key.slice(3), 'base64url').length * 8).toBeGreaterThanOrEqual(128);
    }
    const characters = Array.from(keys[0] ?? '', (_, index) => new Set(keys.map((key) => key[index])).size);
    expect(characters.slice(3, -1).filter((different) => different < 20)).toEqual([]);
  });
});
