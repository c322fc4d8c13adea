import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import type { Visitor } from '#libs/privacy/contract';
import { persist } from '#libs/record/persist/persist';
import { createCli } from '../support/cli.ts';
import { clockAhead } from '../support/clock.ts';
import { recordAt } from '../support/records.ts';
import { createSealer } from '../support/sealing.ts';
import { startStack } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';

const day = 24 * 60 * 60 * 1_000;
const daysAgo = (days: number) => new Date(Date.now() - days * day).toISOString();

const stack = await startStack({ worker: false });
const sealer = createSealer(stack.db, await openRedis(stack.redis.url));
const cli = createCli(stack.env);
const organization = stack.tenant.organizationId;

describe('assent visitor', () => {
  const store = async (visitorId: string, count: number, time = Date.now()) => {
    const records = Array.from({ length: count }, (_, each) =>
      recordAt(time - each, { domainId: stack.domainId, visitorId, ip: '192.0.2.0', userAgent: 'Example/1.0' }),
    );
    await persist(stack.db, records);
    return records.map(({ id }) => id);
  };
  const shown = async (visitorId: string) =>
    (await cli.json<{ records: object[] }>('visitor', 'show', visitorId, '--org', organization)).records.length;

  it('shows and erases, with acts that name a hash, and refuses what is not clear', async () => {
    const ids = await store('ann', 3);
    await sealer.closeAndSeal();
    const all = await cli.json<Visitor>('visitor', 'show', 'ann', '--org', organization);
    expect(all.records.map(({ id }) => id)).toEqual(ids);
    expect(Object.keys(all.proofs)).toEqual(ids);
    expect(Object.keys(all.verifierKeys)).toEqual([stack.domainId]);
    const erased = await cli.json<object>('visitor', 'erase', 'ann', '--domain', stack.domainId);
    expect(erased).toMatchObject({ visitorId: 'ann', state: 'done', records: 3 });
    expect(await shown('ann')).toBe(0);
    const { acts } = await cli.json<{ acts: { act: string; subject: string }[] }>('acts');
    expect(acts.slice(0, 3).map(({ act }) => act)).toEqual(['visitor.access', 'visitor.erase', 'visitor.access']);
    expect(JSON.stringify(acts)).not.toContain('"ann"');
    expect(await cli.error('visitor', 'show', 'ann')).toBe('give either --org or --domain');
    expect(await cli.error('visitor', 'erase', '--org', organization)).toBe('name a visitor, or give --replay');
    expect(await cli.error('visitor', 'erase', 'ann', '--org', 'org_none')).toBe('no organization org_none');
  });

  it('erases again after a restore whom a file of tombstones names', async () => {
    await cli.json('visitor', 'erase', 'bob', '--org', organization);
    await cli.json('visitor', 'erase', 'cid', '--domain', stack.domainId);
    const listed = () => stack.sql`
      select ${organization} as "organizationId", domains.id as "domainId", encode(hash, 'hex') as hash,
        erased_at as "erasedAt"
      from tombstones left join domains on number = domain_number`;
    const tombstones = [...(await listed())];
    // as a restored database: without tombstones, and with their records
    await stack.sql`truncate tombstones`;
    const before = Date.now() - day;
    await store('bob', 4, before);
    await store('cid', 2, before);
    await store('dan', 1);
    const file = path.join(inject('folder'), 'tombstones.ndjson');
    // who was erased so long ago is a new visitor, unless the backup brought records of before
    for (const visitorId of ['eve', 'fay']) await cli.json('visitor', 'erase', visitorId, '--org', organization);
    await stack.sql`update tombstones set erased_at = now() - interval '33 days'`;
    tombstones.push(...(await listed()));
    await stack.sql`truncate tombstones`;
    await store('eve', 1);
    await store('fay', 1);
    await stack.sql`update records set received_at = now() - interval '3 days' where visitor_id = 'fay'`;
    writeFileSync(file, tombstones.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const replayed = await cli.json<object>('visitor', 'erase', '--replay', '--from', file);
    // fay's is of after her erasure
    expect(replayed).toEqual({ tombstones: tombstones.length, visitors: 2, records: 6 });
    const left = await Promise.all(['bob', 'cid', 'dan', 'eve', 'fay'].map(shown));
    expect(left).toEqual([0, 0, 1, 1, 0]);
    // eve's is old, and fay's that of an erasure of today
    expect(await listed()).toHaveLength(tombstones.length - 1);
    // who only goes on visiting was not missed, also where a record comes late or had waited; they are erased all the same
    await store('bob', 2);
    await store('bob', 1, before);
    // Redis knows them again
    expect(await cli.json<object>('visitor', 'erase', '--replay')).toEqual({
      tombstones: tombstones.length,
      visitors: 0,
      records: 0,
    });
    expect(await shown('bob')).toBe(0);
    const { stdout } = await cli.run('visitor', 'tombstones');
    expect(stdout.trimEnd().split('\n')).toHaveLength(tombstones.length);
  });

  it('rewrites the file of tombstones every day, which loses nothing where Redis has', async () => {
    const file = path.join(inject('folder'), 'daily.ndjson.gz');
    const old = { organizationId: organization, domainId: null, hash: '0'.repeat(64), erasedAt: daysAgo(36) };
    const recent = { ...old, hash: '1'.repeat(64), erasedAt: daysAgo(34) };
    writeFileSync(file, [old, recent].map((each) => `${JSON.stringify(each)}\n`).join(''));
    const write = () => cli.json('visitor', 'tombstones', '--out', file);
    const { tombstones } = await cli.json<{ tombstones: number }>('visitor', 'erase', '--replay');
    expect(tombstones).toBeGreaterThan(1);
    expect(await write()).toEqual({ tombstones: tombstones + 1, unknownToRedis: 1 });
    const { client } = await openRedis(stack.redis.url);
    await client.flushall();
    expect(await write()).toEqual({ tombstones: tombstones + 1, unknownToRedis: tombstones + 1 });
    // nor by a machine whose clock is wrong
    const wrong = createCli({ ...stack.env, ...clockAhead(400 * day) });
    expect(await wrong.json('visitor', 'tombstones', '--out', file)).toMatchObject({ tombstones: tombstones + 1 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
    expect(lines[0]).toBe(JSON.stringify(recent));
    expect(lines).toHaveLength(tombstones + 1);

    const other = path.join(inject('folder'), 'other.txt');
    writeFileSync(other, 'something else\n');
    expect(await cli.error('visitor', 'tombstones', '--out', other)).toMatch(/other\.txt has in line 1 what/);
    expect(readFileSync(other, 'utf8')).toBe('something else\n');
  });
});
