/** The feed: a follower gets every entry of a log once, in order. */
import { existsSync, mkdtempSync, readFileSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { Feed, FeedEntry } from '#libs/log/contract';
import { findLog } from '#libs/proof/published';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import type { FullRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { spawnTethered } from '../../scripts/stack/tether.ts';
import { createCli } from '../support/cli.ts';
import { createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { readPage } from '../support/documents.ts';
import { openGate } from '../support/gate.ts';
import { sha256, verifyEd25519 } from '../support/log-vector.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, eraseRecords, logName } from '../support/sealing.ts';
import { startWorker } from '../support/service.ts';
import { at, sealSettings, startStack } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const now = Date.now();
const notice = 'ab'.repeat(32);

const stack = await startStack({ worker: false, tenant: { domains: 7 } });
const domain = (index: number) => at(stack.tenant.domainIds, index);

const sealer = createSealer(stack.db, await openRedis(stack.redis.url));

describe('GET /v1/consent/:domainId/feed', () => {
  const ask = <Body = ProblemAnswer>(domainId: string, query = '', organizationId = stack.tenant.organizationId) =>
    createClient(stack.api.baseUrl, { organizationId }).get<Body>(`/v1/consent/${domainId}/feed${query}`);
  const store = async (domainId: string, count: number, fields = {}) => {
    const records = Array.from({ length: count }, (_, each) =>
      recordAt(now - each * 7, { domainId, visitorId: `visitor ${each}`, ...fields }),
    );
    await persist(stack.db, records, { owe: true });
    return records.map(({ id }) => id).toSorted();
  };
  /** As a reader does that keeps `next`. */
  const follow = async (
    domainId: string,
    from: number,
    limit: number,
  ): Promise<{ entries: FeedEntry[]; next: number }> => {
    const entries: FeedEntry[] = [];
    for (let next = from; ; ) {
      const { status, body } = await ask<Feed>(domainId, `?from=${next}&limit=${limit}`);
      expect(status).toBe(200);
      entries.push(...body.entries);
      if (body.entries.length === 0) return { entries, next };
      next = body.next;
    }
  };

  it('ends a page of large records at about a megabyte, and the next one goes on there', async () => {
    const preferences = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${n}`.padEnd(64, 'x'), true]));
    const ids = await store(domain(6), 300, { tcString: 'x'.repeat(4_096), gppString: 'y'.repeat(4_096), preferences });
    await sealer.closeAndSeal();
    const { body } = await ask<Feed>(domain(6));
    const { length } = JSON.stringify(body);
    expect(body.entries.length).toBeLessThan(150);
    expect([length > 900_000, length < 1_100_000]).toEqual([true, true]);
    const { entries } = await follow(domain(6), 0, 1_000);
    expect(entries.flatMap((entry) => (entry.type === 'record' ? entry.record.id : []))).toEqual(ids);
  });

  it('gives notices, records as the log page has them, and erasures, in pages without gaps', async () => {
    const first = await store(domain(0), 100, { notice });
    await sealer.closeAndSeal();
    const { entries: before, next } = await follow(domain(0), 0, 64);
    await eraseRecords(stack.db, domain(0), [at(first, 10)]);
    const second = await store(domain(0), 3);
    await sealer.closeAndSeal();
    const after = await follow(domain(0), next, 2);
    const entries = [...before, ...after.entries];
    expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 105 }, (_, each) => each));
    expect(at(entries, 0)).toEqual({ position: 0, type: 'notice', notice });
    expect(at(entries, 104)).toEqual({
      position: 104,
      type: 'erasure',
      recordId: at(first, 10),
      erases: 11,
      erased: { log: 1, position: 11 },
    });
    const ofEntry = (position: number) =>
      stack.client.get<string & ProblemAnswer>(`/v1/consent/${domain(0)}/log/entries/${position}/proof`);
    const { verifierKeys = [] } = (await stack.db.run((sql) => findLog(sql, domain(0)))) ?? {};
    const keys = parseVerifierKeys(sha256, verifierKeys.join('\n'));
    for (const { position, type } of [at(entries, 0), at(entries, 5), at(entries, 104)]) {
      const proven = checkFile(Buffer.from((await ofEntry(position)).body), keys, { sha256, verifyEd25519 });
      expect(proven).toMatchObject({ holds: true, proven: { index: position }, entry: { type } });
    }
    const beyond = await ofEntry(105);
    expectProblem(beyond, 409, 'not_sealed_yet');
    expect(beyond.headers.get('retry-after')).toMatch(/^[0-9]+$/);
    const records = entries.flatMap((entry) => (entry.type === 'record' ? [entry.record] : []));
    expect(records.map(({ id }) => id)).toEqual([...first, ...second]);
    const { body: page } = await stack.client.records(domain(0));
    const fed = new Map(records.map((record) => [record.id, record]));
    for (const record of page.records) expect(fed.get(record.id)).toEqual(record);
    expect(after.next).toBe(105);
  });

  it('is empty before anything is sealed, and shows only what a checkpoint covers', async () => {
    await store(domain(1), 2);
    expect((await ask<Feed>(domain(1))).body).toEqual({ log: 1, entries: [], next: 0, size: 0 });
    await sealer.closeAndSeal();
    await stack.sql`
        update logs set checkpoint_size = 1
        where domain_number = (select number from domains where id = ${domain(1)})`;
    expect((await ask<Feed>(domain(1))).body).toMatchObject({ next: 1, size: 1, entries: [{ position: 0 }] });
  });

  it('a position beyond the log, a log that is none, and parameters that are none are refused', async () => {
    await store(domain(2), 2);
    await sealer.closeAndSeal();
    expectBlame(await ask(domain(2), '?from=3'), '/from');
    expectBlame(await ask(domain(2), '?from=-1'), '/from');
    expectBlame(await ask(domain(2), '?limit=1001'), '/limit');
    expectBlame(await ask(domain(2), '?since=0'), '/since');
    expectProblem(await ask(domain(2), '?log=2'), 404, 'not_found');
    const other = await makeTenant(stack.db, { consentLog: false });
    expectProblem(await ask(at(other.domainIds, 0), '', other.organizationId), 403, 'plan_feature_required');
  });

  it('after a restart a reader gets an error, and the old log can be read to its end', async () => {
    const ids = await store(domain(3), 4);
    await sealer.closeAndSeal();
    const cli = createCli({ ...stack.env, LOG_NAME: logName });
    await cli.json('log', 'restart', domain(3), '--yes');
    expectProblem(await ask(domain(3), '?from=4'), 409, 'log_restarted');
    await store(domain(3), 2);
    await sealer.closeAndSeal();
    expectProblem(await ask(domain(3), '?from=4'), 409, 'log_restarted');
    expectProblem(await ask(domain(3), '?from=4&log=1'), 409, 'log_restarted');
    expect((await ask<Feed>(domain(3), '?from=1&log=1')).body).toMatchObject({
      log: 1,
      next: 4,
      size: 4,
      entries: ids.slice(1).map((id) => ({ type: 'record', record: { id } })),
    });
    expect((await ask<Feed>(domain(3))).body).toMatchObject({ log: 2, next: 2, size: 2 });
  });
});

interface Copy {
  at: string;
  records: Record<string, FullRecord>;
}

describe('the loop of docs/exports.md that follows the feed', () => {
  const env = () => ({ ...stack.env, ...sealSettings });
  const authorization = (scope = 'read') => `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}`;
  /** All records of the domain, once they are so many and sealed. */
  const sealed = (domainId: string, count: number) =>
    eventually(async () => {
      const { body } = await stack.client.get<string>(`/v1/consent/${domainId}/export`);
      const all: FullRecord[] = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(all.pop()).toEqual({ end: true, count });
      expect(all.filter(({ position }) => position === null)).toEqual([]);
      return all;
    });

  /** They follow their records a round later, where these were sealed while the visitor was being erased. */
  const untilErasuresAreSealed = (domainId: string) =>
    eventually(async () => {
      const [left] = await stack.sql<{ running: number; waiting: number; unpublished: number }>`
        select (select count(*)::int from erasures where done_at is null) as running,
          (select count(*)::int from erasures_to_seal where domain_number = number) as waiting,
          (select sum(size - checkpoint_size)::int from logs where domain_number = number) as unpublished
        from domains where id = ${domainId}`;
      expect(left).toEqual({ running: 0, waiting: 0, unpublished: 0 });
    });

  /** Runs of the loop for a domain, in a folder of their own. */
  function createLoop(domainId: string) {
    const page = readPage('docs/exports.md');
    const program = /^cat > follow\.mjs <<'EOF'\n([\s\S]*?\n)EOF$/m.exec(page)?.[1] ?? '';
    expect(program.trim().split('\n')).toHaveLength(10);
    const folder = mkdtempSync(path.join(inject('folder'), 'follow-'));
    const file = (name: string) => path.join(folder, name);
    writeFileSync(file('follow.mjs'), program);
    return {
      write: (copy: Copy) => writeFileSync(file('copy.json'), JSON.stringify(copy)),
      copy: (): Copy =>
        existsSync(file('copy.json')) ? JSON.parse(readFileSync(file('copy.json'), 'utf8')) : { at: '', records: {} },
      /** What it printed, if it failed. `onWrite`: as it begins to write. */
      run: async (onWrite: (kill: () => void) => void = () => {}, baseUrl = stack.api.baseUrl) => {
        const { child, exited } = spawnTethered(process.execPath, [file('follow.mjs')], {
          cwd: folder,
          env: { PATH: process.env.PATH, FEED: `${baseUrl}/v1/consent/${domainId}/feed`, AUTH: authorization() },
          stdout: 'pipe',
          stderr: 'pipe',
        });
        let printed = '';
        child.stderr?.on('data', (text) => {
          printed += String(text);
        });
        const watcher = watch(folder, (_, name) => {
          if (name === 'copy.new') onWrite(() => child.kill('SIGKILL'));
        });
        const { code, signal } = await exited;
        watcher.close();
        return { signal, failed: code === 0 || signal ? '' : printed };
      },
    };
  }

  beforeAll(() => startWorker(env()).then(() => {}));

  it('has every record once, and nothing of erased visitors, though the API goes away and the loop is killed', async () => {
    const domainId = domain(4);
    const visitor = (index: number) => `visitor ${index % 3}`;
    const add = (count: number) =>
      persist(
        stack.db,
        Array.from({ length: count }, (_, index) =>
          recordAt(now - index, { domainId, visitorId: visitor(index), notice, ip: '192.0.2.0', userAgent: 'x/1' }),
        ),
        { owe: true },
      );
    const erase = (index: number) =>
      request(stack.api.baseUrl, `/v1/organization/visitors/${encodeURIComponent(visitor(index))}`, {
        method: 'DELETE',
        headers: { authorization: authorization('privacy') },
      });
    const loop = createLoop(domainId);
    const gate = await openGate(stack.api.baseUrl);
    const through = gate.url.replace(/\/$/, '');
    // some pages
    await add(2_100);
    await sealed(domainId, 2_100);
    expect((await loop.run((kill) => kill(), through)).signal).toBe('SIGKILL');
    expect((await loop.run(() => gate.shut(), through)).failed).toMatch(/fetch failed|terminated/);
    const copied = Object.keys(loop.copy().records).length;
    expect([copied > 0, copied < 2_100]).toEqual([true, true]);
    gate.open();
    expect([200, 202]).toContain((await erase(0)).status);
    expect(await loop.run()).toEqual({ signal: null, failed: '' });
    await add(30);
    // on a busy machine, a slow erasure ends later
    expect([200, 202]).toContain((await erase(1)).status);
    await untilErasuresAreSealed(domainId);
    const records = await sealed(domainId, 2_130);
    const { body } = await stack.client.get<Feed>(`/v1/consent/${domainId}/feed`);
    expect(await loop.run()).toEqual({ signal: null, failed: '' });
    expect(loop.copy().at).toBe(`log=1&from=${body.size}`);
    // the feed does not contain the time of an erasure
    const shown = Object.values(loop.copy().records).map((each) => ({ ...each, erasedAt: null }));
    expect(shown.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(records.map((each) => ({ ...each, erasedAt: null })));
    expect(new Set(records.map(({ visitorId }) => visitorId))).toEqual(new Set([null, visitor(2)]));
  });

  it('waits for a first record, and after a restart of the log goes on as the page says', async () => {
    const domainId = domain(5);
    const loop = createLoop(domainId);
    expect(await loop.run()).toEqual({ signal: null, failed: '' });
    const store = (count: number) =>
      persist(
        stack.db,
        Array.from({ length: count }, () => recordAt(Date.now(), { domainId })),
        { owe: true },
      );
    await store(3);
    await sealed(domainId, 3);
    await createCli(env()).json('log', 'restart', domainId, '--yes');
    await store(2);
    const records = await sealed(domainId, 5);
    expect((await loop.run()).failed).toContain('log 1 ended at 3; read the next one from 0');
    expect(readPage('docs/exports.md')).toContain('`log 1 ended at 1234; read the next one from 0`');
    loop.write({ ...loop.copy(), at: 'log=2&from=0' });
    expect(await loop.run()).toEqual({ signal: null, failed: '' });
    expect(Object.values(loop.copy().records)).toEqual(records);
  });
});
