import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { createCli } from '../support/cli.ts';
import { runCli, runCliIn } from '../support/run-cli.ts';
import { jwtSecret } from '../support/settings.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const password = 'hunter2';

const { db, env } = await openStores();
const { organizationId, domainIds } = await makeTenant(db);
const domainId = at(domainIds, 0);

describe.concurrent('the command line', () => {
  it('tells in one line that its output cannot be written, and ends quietly where nobody reads on', async () => {
    const assent = `"${process.execPath}" "${path.join(inject('dist'), 'apps/cli/main.js')}"`;
    const shell = (line: string) =>
      spawnSync('sh', ['-c', line], { env: { ...process.env, ...env }, encoding: 'utf8' });
    const rows = `${assent} records export --domain ${domainId}`;
    expect(shell(`${rows} > /dev/full`)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^standard output: ENOSPC.*\n$/),
    });
    expect(shell(`{ ${rows}; echo "status $?" >&2; } | true`)).toMatchObject({ stderr: 'status 0\n' });
  });

  describe('tells an error in one line on standard error, and exits 1', () => {
    const away = {
      DATABASE_URL: `postgres://root:${password}@127.0.0.1:1/x`,
      REDIS_URL: `redis://:${password}@127.0.0.1:1`,
    };

    it.each<[string, RegExp, string[], Record<string, string>?]>([
      ['an unknown command', /frobnicate/, ['frobnicate']],
      ['an unknown option', /--colour/, ['org', 'list', '--colour']],
      ['a missing argument', /name/, ['org', 'create']],
      ['a plan that is not there', /no plan gold/, ['org', 'create', 'x', '--plan', 'gold']],
      ['a limit that is none', /monthly-limit/, ['plan', 'set', 'x', '--monthly-limit', '-1']],
      ['a domain of no organization', /no organization org_x/, ['domain', 'create', 'org_x', 'x']],
      [
        'a token that is valid for too long',
        /more than 24 h \(JWT_MAX_LIFETIME\)/,
        ['token', 'issue', 'org_x', '--ttl', '30d'],
        { JWT_MAX_LIFETIME: '24' },
      ],
      ['a token of an organization that is not there', /no organization org_x/, ['token', 'issue', 'org_x']],
      ['a key of a domain that is not there', /no domain dom_x/, ['key', 'create', 'dom_x']],
      ['keys of a domain that is not there', /no domain dom_x/, ['key', 'list', '--domain', 'dom_x']],
      ['domains of no organization', /no organization org_x/, ['domain', 'list', '--org', 'org_x']],
      ['acts of no organization', /no organization org_x; if it was deleted/, ['acts', '--org', 'org_x']],
      ['acts of no days', /--from must not be after --to/, 'acts --from 2026-11-27 --to 2026-11-26'.split(' ')],
      ['a log that nobody has', /no domain dom_x/, ['log', 'confirm', 'dom_x']],
      ['a token of nobody', /--subject .* must not be empty/, ['token', 'issue', organizationId, '--subject', '']],
      ['an address that is none', /must be an address/, ['domain', 'show', domainId, '--api', 'ftp://x']],
      ['a file of tombstones without need', /--from needs --replay/, ['visitor', 'erase', 'v', '--from', 'x']],
      ['an id that is reserved', /--id .* is reserved/, ['domain', 'create', organizationId, 'x', '--id', 'run_id']],
      ['an id that is taken', /already/, ['domain', 'create', organizationId, 'x', '--id', domainId]],
      ['an origin with a path', /--origin/, `domain create ${organizationId} x --origin https://a.b/`.split(' ')],
      ['a key that is not there', /no active key/, ['key', 'revoke', domainId, 'ak_none']],
      ['no address of Postgres', /DATABASE_URL/, ['org', 'list'], { DATABASE_URL: '' }],
      ['a Postgres that is away', /Postgres/, ['org', 'list'], { DATABASE_URL: away.DATABASE_URL }],
      // it takes seconds, in a process of its own
      ['a Redis that is away', /Redis/, ['queue', 'status'], { REDIS_URL: away.REDIS_URL, NODE_ENV: 'test' }],
      ['a secret that is too short', /JWT_SECRET/, ['token', 'issue', 'org_x'], { JWT_SECRET: password }],
    ])('%s', async (_, says, args, settings) => {
      const line = await createCli({ ...env, JWT_SECRET: jwtSecret, ...settings }).error(...args);
      expect(line).toMatch(says);
      expect(line).not.toContain(password);
    });
  });

  it.each([
    ['a line without a colon', `x-shop: 1\n${password}\n`, /header 2 .* has no colon/],
    ['a name that is there twice', `x-shop: ${password}\nX-Shop: 2\n`, /header x-shop is twice/],
    ['a name that is none', `x shop: ${password}\n`, /not valid/],
  ])('makes no webhook of a file of headers with %s, and shows none of it', async (_, text, says) => {
    const file = path.join(mkdtempSync(path.join(inject('folder'), 'headers-')), 'headers');
    writeFileSync(file, text);
    const create = ['webhook', 'create', organizationId, 'https://a.example', '--headers-file', file];
    const line = await createCli({ ...env, SECRETS_KEY: 'a'.repeat(64) }).error(...create);
    expect(line).toMatch(says);
    expect(line).not.toContain(password);
  });

  it('shows no password that Postgres refuses, and names a parameter of its address that it does not know', async () => {
    const address = new URL(env.DATABASE_URL);
    address.password = password;
    expect(await createCli({ ...env, DATABASE_URL: address.href }).error('org', 'list')).not.toContain(password);
    address.password = new URL(env.DATABASE_URL).password;
    address.searchParams.set('channel_binding', 'require');
    for (const command of [['org', 'list'], ['migrate']]) {
      const line = await createCli({ ...env, DATABASE_URL: address.toString() }).error(...command);
      expect(line).toMatch(/unrecognized configuration parameter "channel_binding"$/);
    }
  });

  it('finds the stack that runs beside it, unless the environment names another', async () => {
    const folder = mkdtempSync(path.join(inject('folder'), 'stack-'));
    mkdirSync(path.join(folder, '.data'));
    const settings = { ...env, JWT_SECRET: jwtSecret };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(path.join(folder, '.data/env'), lines.join(''), { mode: 0o600 });

    const [found, other, nothing] = await Promise.all([
      runCliIn(folder, {}, 'org', 'list', '--json'),
      runCliIn(folder, { DATABASE_URL: 'postgres://x:x@127.0.0.1:1/x' }, 'org', 'list'),
      runCli({}, 'org', 'list'),
    ]);
    expect(JSON.parse(found.stdout).organizations).toContainEqual(expect.objectContaining({ organizationId }));
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('Postgres') });
    expect(nothing.stderr).toMatch(/DATABASE_URL/);
  });

  it('shows the control characters of names and arguments instead of sending them to the terminal', async () => {
    const hostile = '\u001b[2J\u001b]0;x\u0007\u009b31m\rShop\u202e';
    const shown = String.raw`\u001b[2J\u001b]0;x\u0007\u009b31m\u000dShop\u202e`;
    const cli = createCli(env);
    const made = await cli.json<{ organizationId: string; name: string }>('org', 'create', hostile);
    expect(made.name).toBe(hostile);
    const commands = [
      ['org', 'list'],
      ['org', 'show', made.organizationId],
      ['org', 'show', hostile],
      ['org', hostile],
      ['org', 'list', '--json'],
    ];
    const results = await Promise.all(commands.map(async (args) => ({ args, ...(await cli.run(...args)) })));
    for (const { args, stdout, stderr } of results) {
      const printed = stdout + stderr;
      expect(printed).toContain('Shop');
      expect({ args, raw: printed.match(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u) }).toEqual({ args, raw: null });
      if (!args.includes('--json')) expect(printed.toLowerCase()).toContain(shown.toLowerCase());
    }
  });
});
