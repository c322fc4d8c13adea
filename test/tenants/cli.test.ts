import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createCli } from '../support/cli.ts';
import { request } from '../support/client.ts';
import { startApi } from '../support/service.ts';
import { jwtSecret } from '../support/settings.ts';
import { openStores } from '../support/stack.ts';

const origins = ['https://shop.example', 'https://*.shop.example'];

const { env, db } = await openStores();
const cli = createCli({ ...env, JWT_SECRET: jwtSecret });
const { baseUrl } = await startApi(env);

describe('tenants by the command line, in the order in which an operator makes them', () => {
  let organizationId: string;
  let domainId: string;
  let apiKey: string;

  it('plan set makes a plan, and changes only what is given', async () => {
    const made = await cli.json('plan', 'set', 'small', '--monthly-limit', '1000');
    expect(made).toEqual({ name: 'small', consentLog: true, monthlyRecordLimit: 1000 });
    const changed = await cli.json('plan', 'set', 'small', '--consent-log', 'false');
    expect(changed).toEqual({ name: 'small', consentLog: false, monthlyRecordLimit: 1000 });
    const opened = { name: 'small', consentLog: false, monthlyRecordLimit: null };
    expect(await cli.json('plan', 'set', 'small', '--monthly-limit', 'none')).toEqual(opened);
    expect(await cli.json('plan', 'list')).toEqual({ plans: [opened] });
  });

  it('org create makes an organization, with the plan `default` unless told otherwise, and org plan changes it', async () => {
    const made = await cli.json<{ organizationId: string }>('org', 'create', 'Ann & Co');
    ({ organizationId } = made);
    expect(made).toEqual({ organizationId: expect.stringMatching(/^org_\w+$/), name: 'Ann & Co', plan: 'default' });
    const other = await cli.json<object>('org', 'create', 'Other', '--plan', 'small');
    expect(other).toMatchObject({ name: 'Other', plan: 'small' });
    expect(await cli.json('plan', 'show', 'default')).toEqual({
      name: 'default',
      consentLog: true,
      monthlyRecordLimit: null,
    });
    expect(await cli.json('org', 'list')).toEqual({ organizations: [made, other] });
    expect(await cli.json('org', 'plan', organizationId, 'small')).toEqual({ ...made, plan: 'small' });
  });

  it('domain create makes a domain, with an id of its own or the one given', async () => {
    const made = await cli.json<{ domainId: string }>('domain', 'create', organizationId, 'shop.example');
    ({ domainId } = made);
    expect(made).toEqual({
      domainId: expect.stringMatching(/^dom_\w+$/),
      organizationId,
      name: 'shop.example',
      origins: [],
    });
    const given = ['b', '--id', 'shop_B-1', ...origins.flatMap((each) => ['--origin', each])];
    const named = await cli.json<object>('domain', 'create', organizationId, ...given);
    expect(named).toEqual({ domainId: 'shop_B-1', organizationId, name: 'b', origins });
    const shown = await cli.json<{ widget: string; integrity: string }>('domain', 'show', 'shop_B-1');
    expect(shown).toEqual({
      ...named,
      archivedAt: null,
      widget: expect.stringMatching(/^\/widget-[0-9a-f]{16}\.js$/),
      integrity: expect.stringMatching(/^sha384-/),
    });
    const behind = createCli({ ...env, PUBLIC_URL: 'https://www.example.com/consent/' });
    const { tag } = await behind.json<{ tag: string }>('domain', 'show', 'shop_B-1');
    expect(tag).toContain(`<script src="https://www.example.com/consent${shown.widget}" integrity="`);
    expect(await cli.json('domain', 'list')).toEqual({
      domains: [made, named].map((domain) => ({ ...domain, archivedAt: null })),
    });
    expect(await cli.json('org', 'show', organizationId)).toEqual({
      organizationId,
      name: 'Ann & Co',
      plan: 'small',
      domains: ['shop_B-1', domainId],
    });
  });

  it('key create shows the key once, and no list shows it again', async () => {
    const made = await cli.json<{ apiKey: string }>('key', 'create', domainId);
    ({ apiKey } = made);
    expect(made).toEqual({ domainId, apiKey: expect.stringMatching(/^ak_[A-Za-z0-9_-]{22,}$/) });
    const shown = await cli.json<{ prefix: string }>('key', 'show', domainId, apiKey.slice(0, 11));
    expect(shown).toMatchObject({ domainId, revokedAt: null });
    expect(apiKey.startsWith(shown.prefix)).toBe(true);
    const list = await cli.json<{ keys: object[] }>('key', 'list', '--domain', domainId);
    expect(list).toEqual({ keys: [shown] });
    expect(JSON.stringify([list, shown])).not.toContain(apiKey);
  });

  it('token issue gives a token that the API takes, for as long as it was asked for', async () => {
    const before = Date.now();
    const wanted = ['--subject', 'ann', '--ttl', '15m', '--scope', 'read  manage'];
    const issued = await cli.json<{ token: string; expiresAt: string }>('token', 'issue', organizationId, ...wanted);
    const { token, expiresAt } = issued;
    const lasts = Date.parse(expiresAt) - before;
    expect(lasts).toBeGreaterThan(14 * 60_000);
    expect(lasts).toBeLessThan(16 * 60_000);
    const { status } = await request(baseUrl, '/v1/organization', { headers: { authorization: `Bearer ${token}` } });
    expect(status).toBe(200);
    const [, claims = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      sub: 'ann',
      org: organizationId,
      scope: 'read manage',
    });
    const { acts } = await cli.json<{ acts: object[] }>('acts', '--act', 'token.create');
    const details = { sub: 'ann', scope: 'read manage', expiresAt };
    expect(acts).toMatchObject([{ actor: userInfo().username, organizationId, details }]);
    expect(JSON.stringify(acts)).not.toContain(token);
  });

  it('key revoke revokes the key by its prefix, and another one goes on', async () => {
    const { apiKey: second } = await cli.json<{ apiKey: string }>('key', 'create', domainId);
    const revoked = await cli.json('key', 'revoke', domainId, apiKey.slice(0, 11));
    expect(revoked).toMatchObject({ domainId, revoked: true });
    const revokedAt = (key: string) => cli.json('key', 'show', domainId, key.slice(0, 11));
    expect(await revokedAt(apiKey)).toMatchObject({ revokedAt: expect.stringMatching(/Z$/) });
    expect(await revokedAt(second)).toMatchObject({ revokedAt: null });
  });

  it('domain set renames it and changes its origins, and only what is given', async () => {
    const set = (...options: string[]) => cli.json<object>('domain', 'set', 'shop_B-1', ...options);
    const now = { domainId: 'shop_B-1', organizationId, name: 'renamed', origins, archivedAt: null };
    expect(await set('--name', 'renamed')).toEqual(now);
    const only = ['https://only.example'];
    expect(await set('--origin', ...only)).toEqual({ ...now, origins: only });
    expect(await set('--no-origins')).toEqual({ ...now, origins: [] });
    for (const [options, told] of [
      [[], 'give --name, --origin or --no-origins'],
      [['--origin', 'https://a.example', '--no-origins'], 'give --origin or --no-origins, not both'],
      [['--origin', 'https://a.example/path'], 'no path'],
    ] as const) {
      const { code, stderr } = await cli.run('domain', 'set', 'shop_B-1', ...options);
      expect([code, stderr.includes(told)]).toEqual([1, true]);
    }
  });

  it('domain archive revokes the keys, and restore brings the domain back', async () => {
    const { apiKey: key } = await cli.json<{ apiKey: string }>('key', 'create', 'shop_B-1');
    const archived = await cli.json<{ archivedAt: string }>('domain', 'archive', 'shop_B-1');
    expect(archived).toMatchObject({ domainId: 'shop_B-1', archivedAt: expect.stringMatching(/Z$/) });
    expect(await cli.json('key', 'show', 'shop_B-1', key)).toMatchObject({ revokedAt: expect.stringMatching(/Z$/) });
    const refused = await cli.run('key', 'create', 'shop_B-1');
    expect([refused.code, refused.stderr]).toEqual([1, 'domain shop_B-1 is archived; restore it first\n']);
    expect(await cli.json('domain', 'restore', 'shop_B-1')).toMatchObject({ archivedAt: null });
    expect((await cli.run('domain', 'archive', 'none')).stderr).toBe('no domain none\n');
  });

  it('org rename renames, and org revoke-tokens is an act', async () => {
    const renamed = await cli.json('org', 'rename', organizationId, 'Ann & Daughters');
    expect(renamed).toEqual({ organizationId, name: 'Ann & Daughters', plan: 'small' });
    expect(await cli.json('org', 'rename', organizationId, 'Ann & Co')).toMatchObject({ name: 'Ann & Co' });
    await cli.json('org', 'revoke-tokens', organizationId);
  });

  it('acts tells who changed what, newest first, and no key', async () => {
    const { acts } = await cli.json<{ acts: { act: string; actor: string }[] }>('acts');
    expect(acts[0]).toMatchObject({ act: 'org.revoke-tokens', actor: userInfo().username, organizationId });
    expect(acts.at(-1)).toMatchObject({ act: 'plan.set', subject: 'small' });
    expect(JSON.stringify(acts)).not.toContain(apiKey);
  });

  it('acts are listed to the last, whatever their table, with the same columns in the same order', async () => {
    await db.run(
      (sql) => sql`
        insert into administrative_acts (actor, act, subject, organization_id, details)
        select 'noor', 'org.plan', ${organizationId}, ${organizationId}, jsonb_build_object('n', n)
        from generate_series(1, 1200) as n`,
    );
    await db.run(
      (sql) => sql`
        insert into visitor_acts (organization_number, domain_number, actor, act)
        select number, 0, 'noor', 'visitor.read' from organizations where id = ${organizationId}`,
    );
    const { acts } = await cli.json<{ acts: { act: string; details: { n: number } }[] }>('acts', '--actor', 'noor');
    expect(acts[0]).toMatchObject({ act: 'visitor.read' });
    expect(acts.slice(1).map(({ details }) => details.n)).toEqual(Array.from({ length: 1_200 }, (_, n) => 1_200 - n));
    const columns = ['at', 'actor', 'act', 'subject', 'organizationId', 'details'];
    expect(new Set(acts.map((act) => Object.keys(act).join()))).toEqual(new Set([columns.join()]));
    const { stdout } = await cli.run('acts', '--org', organizationId, '--actor', 'noor');
    const [head = '', ...lines] = stdout.trimEnd().split('\n');
    expect(head.split(/ +/)).toEqual(columns);
    expect(lines).toHaveLength(1_201);
    expect((await cli.run('acts', '--actor', 'nobody')).stdout).toBe('no acts\n');
    expect(await cli.json('acts', '--act', 'none')).toEqual({ acts: [] });
    expect(await cli.json('acts', '--org', organizationId, '--visitor', 'nobody')).toEqual({ acts: [] });
    expect(await cli.error('org', 'create', 'Third', '--actor', 'somebody')).toContain(
      `this one is ${userInfo().username}`,
    );
  });
});
