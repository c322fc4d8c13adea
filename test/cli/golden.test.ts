/**
 * What every command prints on a seeded installation, word for word: as a table, with `--json`, and its errors. Scripts
 * rely on it. To change it on purpose, delete the noun's file in `golden/`, run this file, and read the difference.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { keepRejected } from '#libs/record/rejected';
import { createAdministration } from '#libs/tenants/administration';
import { vector } from '../support/log-vector.ts';
import { recordAt } from '../support/records.ts';
import { runCliIn } from '../support/run-cli.ts';
import { createSealer, deriveFacets, logName } from '../support/sealing.ts';
import { jwtSecret } from '../support/settings.ts';
import { openStores } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';

const { env, db, sql, redis } = await openStores();
const folder = mkdtempSync(path.join(inject('folder'), 'golden-'));
const settings = { ...env, JWT_SECRET: jwtSecret, LOG_NAME: logName, IP_HASH_KEY: 'ab'.repeat(32) };
const run = (...args: string[]) => runCliIn(folder, settings, ...args);
const withAccounts = { ...settings, PUBLIC_URL: 'https://consent.example.com' };

/** the actor of what is seeded: longer than the name of the user who runs this, so that columns are always as wide */
const seeder = 'the seed of the golden files';
const day = '2026-11-02';
const at = (second: number) => Date.parse(`${day}T10:00:00Z`) + second * 1_000;

/** What differs from run to run, as a fixed word of the same length: tables stay as they are printed. */
function createMask() {
  const known = new Map<string, string>();
  const numbered = (prefix: string, found: string) => {
    const word = known.get(found) ?? `${prefix}${String(known.size + 1).padStart(found.length - prefix.length, '0')}`;
    known.set(found, word);
    return word;
  };
  const user = userInfo().username;
  return (text: string): string =>
    text
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'YYYY-MM-DDThh:mm:ss.sssZ')
      .replaceAll(/\b(org_|per_|wh_|dom_|ers_|imp_|msg_)[0-9a-f]{20,32}\b/g, (found, prefix) => numbered(prefix, found))
      .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (found) => numbered('', found))
      .replaceAll(/\b[0-9a-f]{64}\b/g, (found) => numbered('', found))
      .replaceAll(/\bak_[\w-]{32}/g, (found) => numbered('ak_', found))
      .replaceAll(/\bak_[\w-]{8}(?![\w-])/g, (found) => numbered('ak_', found))
      .replaceAll(/\bwhsec_[\w+/=-]+/g, 'whsec_…')
      .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJ…')
      .replaceAll(/(jti"?:? *"?)[0-9a-f]{16}\b/g, '$1<jti>')
      .replaceAll(/#(invite|setup)=[\w-]{43}/g, '#$1=…')
      .replaceAll(/sha384-[\w+/=]{64}/g, 'sha384-…')
      .replaceAll(/\/widget-[0-9a-f]{16}\.js/g, '/widget-….js')
      .replaceAll(/sealing is \d+ s/g, 'sealing is 0 s')
      .replaceAll(`"actor":"${user}"`, '"actor":"<you>"')
      .replaceAll(new RegExp(`(?<=  )${user}( +|$)`, 'gm'), (found) => '<you>'.padEnd(found.length))
      .replaceAll(folder, '<folder>');
}

/** Runs commands, and notes how they were called and what they printed. */
function createScript(environment: Record<string, string> = settings) {
  const mask = createMask();
  let text = '';
  const step = async (args: string[]) => {
    const { code, stdout, stderr } = await runCliIn(folder, environment, ...args);
    const quoted = args.map((arg) => (/^[\w./:@=+-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ');
    text += mask(`$ assent ${quoted}\n${stdout}${stderr}${code === 0 ? '' : `[exit ${code}]\n`}\n`);
    return stdout;
  };
  return {
    step,
    json: async <T>(...args: string[]): Promise<T> => JSON.parse(await step([...args, '--json'])) as T,
    /** The same as text, and with `--json`. */
    both: async (...args: string[]) => {
      await step(args);
      await step([...args, '--json']);
    },
    end: (noun: string) => expect(text).toMatchFileSnapshot(`golden/${noun}.txt`),
  };
}

let organizationId: string;
const shop = 'dom_shop';
const records = [
  recordAt(at(1), { domainId: shop, visitorId: 'ann', ip: '192.0.2.0', country: 'DE', language: 'de' }),
  recordAt(at(2), { domainId: shop, visitorId: 'bob', decision: 'reject_all', country: 'DE' }),
  recordAt(at(3), {
    domainId: shop,
    visitorId: 'cid',
    decision: 'custom',
    preferences: { analytics: true, marketing: false },
    country: 'FR',
  }),
  recordAt(at(4), { domainId: 'dom_blog', visitorId: 'ann', decision: 'withdraw' }),
];

beforeAll(async () => {
  const admin = createAdministration(db, seeder);
  await admin.setPlan('default', {});
  ({ organizationId } = await admin.createOrganization('Seed', 'default'));
  await admin.createDomain(organizationId, { domainId: shop, name: 'shop.example', origins: ['https://shop.example'] });
  await admin.createDomain(organizationId, { domainId: 'dom_blog', name: 'blog.example', origins: [] });
  await admin.createDomain(organizationId, { domainId: 'dom_new', name: 'new.example', origins: [] });
  await persist(db, records);
  await createSealer(db, await openRedis(redis.url), [Buffer.from(vector.logKey, 'hex')]).closeAndSeal();
  await deriveFacets(db);
  await run('counters', 'rebuild');
});

describe.sequential('the command line prints what it printed before', () => {
  it('plan', async () => {
    const { step, both, end } = createScript();
    await both('plan', 'set', 'small', '--monthly-limit', '1000');
    await both('plan', 'set', 'small', '--monthly-limit', 'none', '--consent-log', 'false');
    await both('plan', 'list');
    await both('plan', 'show', 'small');
    await both('plan', 'show', 'gold');
    await step(['plan', 'set', 'small', '--monthly-limit', '-1']);
    await step(['plan', 'set', 'small', '--consent-log', 'maybe']);
    await end('plan');
  });

  it('org', async () => {
    const { step, json, both, end } = createScript();
    await step(['org', 'create', 'Ann']);
    const { organizationId: made } = await json<{ organizationId: string }>('org', 'create', 'Bob', '--plan', 'small');
    await both('org', 'plan', made, 'default');
    await both('org', 'rename', made, 'Bob & Co');
    await both('org', 'list');
    await both('org', 'show', organizationId);
    await both('org', 'revoke-tokens', made);
    await step(['org', 'show', 'org_none']);
    await step(['org', 'rename', 'org_none', 'x']);
    await step(['org', 'plan', made, 'gold']);
    await step(['org', 'create', 'x', '--plan', 'gold']);
    await step(['org', 'create', ' ']);
    await step(['org', 'delete', made]);
    await end('org');
  });

  it('domain', async () => {
    const { step, both, end } = createScript();
    await step(['domain', 'create', organizationId, 'one', '--id', 'dom_1', '--origin', 'https://one.example']);
    const two = ['--origin', 'https://two.example', '--origin', 'https://*.two.example'];
    await step(['domain', 'create', organizationId, 'two', '--id', 'dom_2', ...two, '--json']);
    await step(['domain', 'create', organizationId, 'three']);
    await both('domain', 'set', 'dom_1', '--name', 'One');
    await both('domain', 'set', 'dom_1', ...two);
    await both('domain', 'set', 'dom_1', '--no-origins');
    await both('domain', 'set', 'dom_1', '--valid-months', '6', '--policy-version', '2026-11');
    await both('domain', 'set', 'dom_1', '--no-expiry', '--no-policy');
    await both('domain', 'archive', 'dom_1');
    await both('domain', 'restore', 'dom_1');
    await both('domain', 'list', '--org', organizationId);
    await both('domain', 'show', 'dom_2');
    await step(['domain', 'show', 'dom_2', '--api', 'https://api.example/below/']);
    await step(['domain', 'show', 'dom_none']);
    await step(['domain', 'show', 'dom_1', '--api', 'ftp://x']);
    await step(['domain', 'list', '--org', 'org_none']);
    await step(['domain', 'set', 'dom_1']);
    await step(['domain', 'set', 'dom_none', '--name', 'x']);
    await step(['domain', 'set', 'dom_1', '--name', ' ']);
    await step(['domain', 'set', 'dom_1', '--no-origins', '--origin', 'https://two.example']);
    await step(['domain', 'set', 'dom_1', '--origin', 'https://two.example/']);
    await step(['domain', 'create', organizationId, 'x', '--id', 'a b']);
    await step(['domain', 'create', organizationId, 'x', '--id', 'run_id']);
    await step(['domain', 'create', organizationId, 'x', '--id', 'dom_2']);
    await step(['domain', 'create', 'org_none', 'x']);
    await step(['domain', 'archive', 'dom_none']);
    await end('domain');
  });

  it('key', async () => {
    const { step, json, both, end } = createScript();
    await step(['key', 'create', 'dom_new']);
    const { apiKey } = await json<{ apiKey: string }>('key', 'create', 'dom_new');
    const prefix = apiKey.slice(0, 11);
    await both('key', 'list', '--domain', 'dom_new');
    await both('key', 'show', 'dom_new', prefix);
    await both('key', 'revoke', 'dom_new', prefix);
    await step(['key', 'show', 'dom_new', 'ak_']);
    await step(['key', 'show', 'dom_new', 'none']);
    await step(['key', 'list', '--domain', 'dom_none']);
    await step(['key', 'list', '--domain', shop]);
    await step(['key', 'create', 'dom_none']);
    await end('key');
  });

  it('token', async () => {
    const { step, both, end } = createScript();
    await both('token', 'issue', organizationId, '--subject', 'ann', '--ttl', '15m', '--scope', 'read manage');
    await both('token', 'revoke', organizationId, 'a-token');
    await step(['token', 'issue', organizationId, '--ttl', '1w']);
    await step(['token', 'issue', organizationId, '--scope', 'all']);
    await step(['token', 'issue', organizationId, '--subject', '']);
    await step(['token', 'issue', 'org_none']);
    await step(['token', 'revoke', 'org_none', 'x']);
    await step(['token', 'revoke', organizationId, '']);
    await step(['token', 'issue', organizationId, '--subject', 'person:per_1']);
    await end('token');
  });

  it('person', async () => {
    const { step, both, end } = createScript(withAccounts);
    const org = ['--org', organizationId];
    await step(['setup', '--json']);
    await step(['person', 'create', 'Ann@Example.com', ...org]);
    await step(['person', 'create', 'bob@example.com', ...org, '--scope', 'read manage', '--json']);
    await both('person', 'list', ...org);
    await both('person', 'set', 'ann@example.com', ...org, '--scope', 'publish');
    await both('person', 'list', ...org);
    await step(['person', 'create', 'ann@example.com', ...org]);
    await step(['person', 'create', 'nobody', ...org]);
    await step(['person', 'create', 'cid@example.com', ...org, '--scope', 'all']);
    await step(['person', 'set', 'cid@example.com', ...org, '--scope', 'read']);
    await step(['person', 'list', '--org', 'org_none']);
    await step(['person', 'reset', 'ann@example.com']);
    await step(['person', 'delete', 'bob@example.com', ...org]);
    await step(['person', 'delete', 'bob@example.com', ...org, '--json']);
    await end('person');
  });

  it('records', async () => {
    const { step, both, end } = createScript();
    await both('records', 'rejected');
    const record = { ...records[0], id: '019a0000-0000-7000-8000-000000000009', domainId: shop } as const;
    await db.write((sql) =>
      keepRejected(sql, [{ record: { ...recordAt(at(9), record) }, errorCode: '22000', error: 'no' }]),
    );
    await both('records', 'list', '--limit', '1');
    await step(['records', 'rejected', '--after', '1']);
    await both('records', 'replay');
    await step(['records', 'export', '--domain', shop, '--format', 'csv', '--visitor', 'cid']);
    await step(['records', 'export', '--org', organizationId]);
    await both('records', 'export', '--domain', shop, '--out', 'all.ndjson', '--continue');
    await step(['records', 'export', '--domain', shop, '--out', 'all.ndjson']);
    await step(['records', 'export', '--domain', shop, '--decision', 'maybe']);
    await both('records', 'import', 'all.ndjson', '--domain', 'dom_new', '--dry-run');
    await both('records', 'import', 'all.ndjson', '--domain', 'dom_new');
    await step(['records', 'import', 'all.ndjson', '--domain', 'dom_none']);
    await step(['records', 'rejected', '--limit', '0']);
    await end('records');
  });

  it('notice', async () => {
    const { step, json, both, end } = createScript();
    const write = (name: string, document: string) => writeFileSync(path.join(folder, name), document);
    write('one.json', '{"language":"de","version":"1"}');
    write('two.json', '{"language":"en","version":"2"}');
    write('three.json', '[]');
    await step(['notice', 'put', shop, 'one.json']);
    const { notice } = await json<{ notice: string }>('notice', 'put', shop, 'two.json');
    await both('notice', 'put', shop, 'two.json');
    await both('notice', 'list', shop);
    await step(['notice', 'list', shop, '--limit', '1']);
    await both('notice', 'show', shop, notice);
    await step(['notice', 'show', shop, 'ab'.repeat(32)]);
    await step(['notice', 'show', shop, 'x']);
    await step(['notice', 'show', 'dom_none', notice]);
    await step(['notice', 'list', 'dom_new']);
    await step(['notice', 'list', 'dom_none']);
    await step(['notice', 'put', shop, 'three.json']);
    await step(['notice', 'put', shop, 'none.json']);
    await step(['notice', 'put', 'dom_none', 'one.json']);
    await end('notice');
  });

  it('webhook', async () => {
    const { step, json, both, end } = createScript();
    const url = 'https://hooks.example/in';
    writeFileSync(path.join(folder, 'headers'), 'x-shop: 1\nauthorization: Bearer x\n');
    const create = ['webhook', 'create', organizationId, url];
    await step(create);
    const all = ['--type', 'records.sealed', '--type', 'limit.reached', '--domain', shop, '--decision', 'custom'];
    const { webhookId } = await json<{ webhookId: string }>(
      ...create,
      ...all,
      '--max-bytes',
      '20000',
      '--headers-file',
      'headers',
    );
    await both('webhook', 'show', webhookId);
    await both('webhook', 'list', '--org', organizationId);
    await both('webhook', 'list', '--failing');
    await both(
      'webhook',
      'set',
      webhookId,
      '--url',
      'https://hooks.example/out',
      '--type',
      'visitor.erased',
      '--disable',
    );
    await both('webhook', 'set', webhookId, '--all-domains', '--all-decisions', '--enable', '--type', 'records.sealed');
    await both('webhook', 'set', webhookId, '--domain', shop, '--domain', 'dom_blog', '--decision', 'withdraw');
    await step(['webhook', 'set', webhookId, '--type', 'limit.reached', '--type', 'limit.reached', '--domain', shop]);
    await both('webhook', 'set', webhookId, '--max-bytes', '30000', '--type', 'records.sealed');
    await both('webhook', 'test', webhookId);
    await both('webhook', 'retry', webhookId);
    await both('webhook', 'rotate', webhookId);
    await both('webhook', 'reseal');
    await both('webhook', 'replay', webhookId, shop, '--from', '1');
    await sql`
      insert into webhook_deliveries (webhook, message_id, type, domain_number, log, first, size, attempt, at,
        milliseconds, failure, status, next_try_at)
      select webhooks.number, ${`msg_${'0'.repeat(20)}`}, type, domains.number, 1, 0, 3, attempt, '2026-11-02T11:00:00Z',
        12, failure, status, next_try_at
      from webhooks, domains, (values
        ('records.sealed', 1, 'status', 500, '2026-11-02T11:00:10Z'::timestamptz), ('records.sealed', 2, null, 204, null)
      ) as tries (type, attempt, failure, status, next_try_at)
      where webhooks.id = ${webhookId} and domains.id = ${shop}`;
    await both('webhook', 'deliveries', webhookId);
    await step(['webhook', 'deliveries', webhookId, '--limit', '1']);
    await step(['webhook', 'replay', webhookId, 'dom_new', '--from', '0']);
    await step(['webhook', 'replay', webhookId, shop, '--from', '99']);
    await step(['webhook', 'replay', webhookId, shop]);
    await step(['webhook', 'set', webhookId]);
    await step(['webhook', 'set', webhookId, '--enable', '--disable']);
    await step(['webhook', 'set', webhookId, '--domain', shop, '--all-domains']);
    await step(['webhook', 'set', webhookId, '--decision', 'custom', '--all-decisions']);
    await step(['webhook', 'set', webhookId, '--type', 'all']);
    await step(['webhook', 'set', webhookId, '--decision', 'all']);
    await step(['webhook', 'set', webhookId, '--domain', 'dom_none']);
    await step(['webhook', 'set', webhookId, '--max-bytes', '1']);
    await step(['webhook', 'set', webhookId, '--url', 'http://hooks.example']);
    await step(['webhook', 'create', organizationId, 'nonsense']);
    await step(['webhook', 'create', organizationId, '']);
    await step(['webhook', 'create', 'org_none', url]);
    await step(['webhook', 'list']);
    await step(['webhook', 'list', '--org', 'org_none']);
    await both('webhook', 'delete', webhookId);
    await end('webhook');
  });

  it('log', async () => {
    const { step, both, end } = createScript();
    await both('log', 'key', shop);
    await both('log', 'status');
    await both('log', 'check');
    await both('log', 'check', '--domain', shop);
    await both('log', 'confirm');
    await both('log', 'restart', 'dom_blog');
    await step(['log', 'restart', 'dom_blog', '--yes', '--log', '7']);
    await both('log', 'restart', '--all-behind');
    await step(['log', 'key', 'dom_new']);
    await step(['log', 'key', shop, '--log', '2']);
    await step(['log', 'key', 'dom_none']);
    await step(['log', 'restart']);
    await step(['log', 'confirm', 'dom_none']);
    const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
    write('proof', vector.proof);
    write('checkpoint', vector.checkpoint);
    const key = ['--key', vector.verifierKey];
    await both('log', 'verify', 'proof', ...key);
    await both('log', 'verify', 'one.json', ...key);
    await both('log', 'verify-consistency', 'checkpoint', 'checkpoint', ...key);
    await end('log');
  });

  it('stats', async () => {
    const { step, both, end } = createScript();
    const days = ['--from', day, '--to', day];
    await both('stats', '--domain', shop, ...days);
    await both('stats', '--org', organizationId, ...days, '--by', 'category');
    await step(['stats', '--domain', shop, '--from', '2026-10-01', '--to', '2026-10-01']);
    await step(['stats', '--domain', shop, '--from', '2024-01-01', '--to', day]);
    await step(['stats', '--domain', shop, '--from', day, '--to', '2026-11-01']);
    await step(['stats', '--domain', shop, '--from', 'x', '--to', day]);
    await step(['stats', '--domain', shop, '--from', day]);
    await step(['stats', '--domain', shop, ...days, '--by', 'weather']);
    await step(['stats', ...days]);
    await step(['stats', '--domain', 'dom_none', ...days]);
    await end('stats');
  });

  it('counters', async () => {
    const { step, both, end } = createScript();
    await both('counters', 'rebuild');
    await both('counters', 'check', '--org', organizationId);
    await both('counters', 'rebuild', '--org', organizationId);
    await step(['counters', 'show', '--org', 'org_none']);
    await end('counters');
  });

  it('queue', async () => {
    const { step, both, end } = createScript();
    await both('queue', 'status');
    await both('queue', 'retry-failed');
    await both('queue', 'discard', '--out', 'discarded');
    await step(['queue', 'forget', '0']);
    await step(['queue', 'forget', 'x']);
    await end('queue');
  });

  it('visitor', async () => {
    const { step, json, both, end } = createScript();
    // imported, and not sealed: proofs have salts
    await json('visitor', 'show', 'cid', '--domain', 'dom_new');
    await step(['visitor', 'show', 'nobody', '--org', organizationId]);
    await both('visitor', 'current', 'cid', '--domain', shop);
    await both('visitor', 'erase', 'ann', '--org', organizationId);
    await step(['visitor', 'erase', 'bob', '--domain', shop, '--json']);
    await both('visitor', 'tombstones', '--to-redis');
    await both('visitor', 'tombstones', '--out', 'tombstones');
    await both('visitor', 'erase', '--replay');
    await step(['visitor', 'show', 'ann']);
    await step(['visitor', 'show', 'ann', '--org', organizationId, '--domain', shop]);
    await step(['visitor', 'erase']);
    await step(['visitor', 'erase', 'ann', '--replay']);
    await step(['visitor', 'erase', 'ann', '--org', organizationId, '--from', 'x']);
    await step(['visitor', 'tombstones', '--to-redis', '--out', 'x']);
    await end('visitor');
  });

  it('acts', async () => {
    const { step, json, both, end } = createScript();
    await both('acts', '--org', organizationId, '--act', 'domain.create');
    // with `--json` alone: the column is as wide as the name of whoever runs this
    await json('acts', '--org', organizationId, '--act', 'webhook.create');
    await both('acts', '--actor', seeder);
    await json('acts', '--org', organizationId, '--visitor', 'cid', '--act', 'visitor.access');
    await step(['acts', '--from', '2020-01-01', '--to', '2020-01-02']);
    await step(['acts', '--from', '2020-01-02', '--to', '2020-01-01']);
    await step(['acts', '--from', 'today']);
    await step(['acts', '--visitor', 'cid']);
    await step(['acts', '--org', 'org_none']);
    await end('acts');
  });

  it('migrate', async () => {
    const { both, end } = createScript();
    await both('migrate');
    await end('migrate');
  });

  it('help', async () => {
    const { step, end } = createScript();
    const verbs = (help: string) =>
      [...(help.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, verb = '']) => verb);
    for (const noun of verbs(await step(['--help'])).filter((each) => each !== 'help')) {
      for (const verb of verbs(await step([noun, '--help'])).filter((each) => each !== 'help')) {
        await step([noun, verb, '--help']);
      }
    }
    await end('help');
  });
});
