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
    const set = (...options: string[]) => cli.json('plan', 'set', 'small', ...options);
    expect(await set('--monthly-limit', '1000')).toEqual({ name: 'small', consentLog: true, monthlyRecordLimit: 1000 });
    const closed = { name: 'small', consentLog: false, monthlyRecordLimit: 1000 };
    expect(await set('--consent-log', 'false')).toEqual(closed);
    const opened = { ...closed, monthlyRecordLimit: null };
    expect(await set('--monthly-limit', 'none')).toEqual(opened);
    expect(await cli.json('plan', 'list')).toEqual({ plans: [opened] });
  });

  it('org create makes an organization with the plan `default`, and org plan and rename change it', async () => {
    const made = await cli.json<{ organizationId: string }>('org', 'create', 'Ann');
    ({ organizationId } = made);
    expect(made).toEqual({ organizationId: expect.stringMatching(/^org_\w+$/), name: 'Ann', plan: 'default' });
    const plan = { name: 'default', consentLog: true, monthlyRecordLimit: null };
    expect(await cli.json('plan', 'show', 'default')).toEqual(plan);
    expect(await cli.json('org', 'plan', organizationId, 'small')).toEqual({ ...made, plan: 'small' });
    const renamed = { ...made, name: 'Ann & Co', plan: 'small' };
    expect(await cli.json('org', 'rename', organizationId, 'Ann & Co')).toEqual(renamed);
    expect(await cli.json('org', 'list')).toEqual({ organizations: [renamed] });
  });

  const terms = { validMonths: null, policyVersion: null };

  it('domain create makes a domain, with an id of its own or the one given', async () => {
    const made = await cli.json<{ domainId: string }>('domain', 'create', organizationId, 'shop.example');
    ({ domainId } = made);
    const id = expect.stringMatching(/^dom_\w+$/);
    expect(made).toEqual({ domainId: id, organizationId, name: 'shop.example', origins: [], ...terms });
    const given = ['b', '--id', 'shop_B-1', ...origins.flatMap((each) => ['--origin', each])];
    const named = await cli.json<object>('domain', 'create', organizationId, ...given);
    expect(named).toEqual({ domainId: 'shop_B-1', organizationId, name: 'b', origins, ...terms });
    const behind = createCli({ ...env, PUBLIC_URL: 'https://www.example.com/consent/' });
    const { widget, tag, ...shown } = await behind.json<Record<string, string>>('domain', 'show', 'shop_B-1');
    expect(shown).toEqual({ ...named, archivedAt: null, integrity: expect.stringMatching(/^sha384-/) });
    expect(tag).toContain(`<script src="https://www.example.com/consent${widget}" integrity="`);
    const domains = [made, named].map((domain) => ({ ...domain, archivedAt: null }));
    expect(await cli.json('domain', 'list')).toEqual({ domains });
    const organization = { organizationId, name: 'Ann & Co', plan: 'small', domains: ['shop_B-1', domainId] };
    expect(await cli.json('org', 'show', organizationId)).toEqual(organization);
  });

  it('key create shows a key once, and no list shows it again; key revoke revokes the one with that prefix', async () => {
    const keys: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const made = await cli.json<{ apiKey: string }>('key', 'create', domainId);
      expect(made).toEqual({ domainId, apiKey: expect.stringMatching(/^ak_[A-Za-z0-9_-]{22,}$/) });
      keys.push(made.apiKey);
    }
    [apiKey = ''] = keys;
    expect(await cli.json('key', 'revoke', domainId, apiKey.slice(0, 11))).toMatchObject({ domainId, revoked: true });
    const shown = await cli.json<object>('key', 'show', domainId, apiKey.slice(0, 11));
    const revoked = { prefix: apiKey.slice(0, 11), revokedAt: expect.stringMatching(/Z$/) };
    expect(shown).toMatchObject({ domainId, ...revoked });
    const list = await cli.json<{ keys: object[] }>('key', 'list', '--domain', domainId);
    expect(list.keys).toHaveLength(2);
    expect(list.keys).toEqual(expect.arrayContaining([shown, expect.objectContaining({ revokedAt: null })]));
    for (const key of keys) expect(JSON.stringify([list, shown])).not.toContain(key);
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
    const details = { sub: 'ann', scope: 'read manage' };
    const claimed = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(claimed).toMatchObject({ ...details, org: organizationId });
    const { acts } = await cli.json<{ acts: object[] }>('acts', '--act', 'token.create');
    expect(acts).toMatchObject([{ organizationId, details: { ...details, expiresAt } }]);
    expect(JSON.stringify(acts)).not.toContain(token);
  });

  it('domain set renames it and changes its origins, and only what is given', async () => {
    const set = (...options: string[]) => cli.json<object>('domain', 'set', 'shop_B-1', ...options);
    const now = { domainId: 'shop_B-1', organizationId, name: 'renamed', origins, archivedAt: null, ...terms };
    expect(await set('--name', 'renamed')).toEqual(now);
    const only = ['https://only.example'];
    expect(await set('--origin', ...only)).toEqual({ ...now, origins: only });
    expect(await set('--no-origins')).toEqual({ ...now, origins: [] });
    const wrong = (...options: string[]) => cli.error('domain', 'set', 'shop_B-1', ...options);
    expect(await wrong()).toBe('give what to change, such as --name');
    expect(await wrong('--origin', ...only, '--no-origins')).toBe('give either --origin or --no-origins');
    expect(await wrong(...[...only, ...only].flatMap((each) => ['--origin', each]))).toContain(
      'must not name one twice',
    );
  });

  it('domain archive and restore do so, and org revoke-tokens is an act', async () => {
    const archivedAt = expect.stringMatching(/Z$/);
    expect(await cli.json('domain', 'archive', domainId)).toMatchObject({ domainId, archivedAt });
    expect(await cli.error('key', 'create', domainId)).toBe(`domain ${domainId} is archived; restore it first`);
    expect(await cli.json('domain', 'restore', domainId)).toMatchObject({ archivedAt: null });
    expect(await cli.error('domain', 'archive', 'none')).toBe('no domain none');
    await cli.json('org', 'revoke-tokens', organizationId);
  });

  it('acts lists who changed what, newest first, and no key', async () => {
    const { acts } = await cli.json<{ acts: { act: string; subject: string; actor: string }[] }>('acts');
    const prefix = apiKey.slice(0, 11);
    expect(acts.toReversed().map(({ act, subject }) => [act, subject])).toEqual([
      ...Array(3).fill(['plan.set', 'small']),
      ['plan.set', 'default'],
      ...['create', 'plan', 'rename'].map((verb) => [`org.${verb}`, organizationId]),
      ...[domainId, 'shop_B-1'].map((id) => ['domain.create', id]),
      ['key.create', prefix],
      ['key.create', expect.stringMatching(/^ak_/)],
      ['key.revoke', prefix],
      ['token.create', expect.any(String)],
      ...Array(3).fill(['domain.update', 'shop_B-1']),
      ...['archive', 'restore'].map((verb) => [`domain.${verb}`, domainId]),
      ['org.revoke-tokens', organizationId],
    ]);
    expect(new Set(acts.map(({ actor }) => actor))).toEqual(new Set([userInfo().username]));
    expect(JSON.stringify(acts)).not.toContain(apiKey);
  });

  it('acts of all tables are listed to the last, with the same columns in the same order', async () => {
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
    expect(await cli.json('acts', '--org', organizationId, '--visitor', 'nobody')).toEqual({ acts: [] });
    expect(await cli.error('org', 'create', 'Third', '--actor', 'somebody')).toContain(
      `this one is ${userInfo().username}`,
    );
  });
});
