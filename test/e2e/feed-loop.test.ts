/** The loop of docs/exports.md, as it stands there: its copy is what the API has, whatever is killed meanwhile. */
import { existsSync, mkdtempSync, readFileSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { Feed, FullRecord } from '#libs/contract/responses';
import { makeIdAt } from '#libs/contract/uuid';
import { persist } from '#libs/store/records/persist';
import { spawnTethered } from '../../scripts/stack/tether.ts';
import { createCli } from '../support/cli.ts';
import { request, tokenFor } from '../support/client.ts';
import { readPage } from '../support/documents.ts';
import { recordAt } from '../support/records.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, type OwnStackOfProcesses, sealSettings, startProcesses } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const program = /^cat > follow\.mjs <<'EOF'\n([\s\S]*?\n)EOF$/m.exec(readPage('docs/exports.md'))?.[1] ?? '';

interface Copy {
  at: string;
  records: Record<string, FullRecord>;
}

describe('the loop that follows the feed', () => {
  let stack: OwnStackOfProcesses;
  let api: ApiProcess;

  beforeAll(async () => {
    stack = await startProcesses({ worker: false, tenant: { domains: 2 } });
    api = stack.api;
  });

  const env = () => ({ ...stack.env, ...sealSettings });
  const authorization = (scope = 'read') => `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}`;
  const get = async <Body>(target: string): Promise<Body> => {
    const { status, body } = await request<Body>(api.baseUrl, target, { headers: { authorization: authorization() } });
    expect(status).toBe(200);
    return body;
  };
  const exported = async (domainId: string): Promise<FullRecord[]> => {
    const lines = (await get<string>(`/v1/consent/${domainId}/export`)).trim().split('\n');
    const all = lines.map((line) => JSON.parse(line));
    expect(all.pop()).toEqual({ end: true, count: all.length });
    return all;
  };
  const sealed = (domainId: string, count: number) =>
    eventually(
      async () => {
        const all = await exported(domainId);
        expect(all.length).toBe(count);
        expect(all.filter(({ position }) => position === null)).toEqual([]);
        return all;
      },
      { within: 30_000, every: 200 },
    );

  /** Runs of the loop for a domain, in a folder of their own. */
  function createLoop(domainId: string) {
    const folder = mkdtempSync(path.join(inject('folder'), 'follow-'));
    const file = (name: string) => path.join(folder, name);
    writeFileSync(file('follow.mjs'), program);
    return {
      write: (copy: Copy) => writeFileSync(file('copy.json'), JSON.stringify(copy)),
      copy: (): Copy =>
        existsSync(file('copy.json')) ? JSON.parse(readFileSync(file('copy.json'), 'utf8')) : { at: '', records: {} },
      /** What it printed, if it failed. `kill`: as it begins to write. */
      run: async ({ kill = false } = {}): Promise<{ signal: string | null; failed: string }> => {
        const { child, exited } = spawnTethered(process.execPath, [file('follow.mjs')], {
          cwd: folder,
          env: { PATH: process.env.PATH, FEED: `${api.baseUrl}/v1/consent/${domainId}/feed`, AUTH: authorization() },
          stdout: 'pipe',
          stderr: 'pipe',
        });
        let printed = '';
        child.stderr?.on('data', (text) => {
          printed += String(text);
        });
        const watcher = watch(folder, (_, name) => {
          if (kill && name === 'copy.new') child.kill('SIGKILL');
        });
        const { code, signal } = await exited;
        watcher.close();
        return { signal, failed: code === 0 || signal ? '' : printed };
      },
    };
  }

  it('has ten lines', () => {
    expect(program.trim().split('\n')).toHaveLength(10);
  });

  it('has every record once, and nothing of erased visitors, though API, worker and loop are killed', async () => {
    const { domainId, apiKey } = stack;
    const acknowledged = new Set<string>();
    let notice = 'a'.repeat(64);
    let isOver = false;
    const visitor = (index: number) => `visitor ${index % 5}`;
    const post = (body: object) =>
      fetch(`${api.baseUrl}/v1/consent/${domainId}/record`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
        body: JSON.stringify(body),
      });
    /** The same record again, until it is acknowledged. */
    const record = async (index: number) => {
      const id = makeIdAt(Date.now());
      const body = { id, decision: 'custom', visitorId: visitor(index), metadata: { index }, notice };
      await eventually(async () => expect((await post(body)).status).toBe(202), { within: 20_000 });
      acknowledged.add(id);
    };
    const erase = (index: number) =>
      eventually(async () => {
        const { status, body } = await request<{ state: string }>(
          api.baseUrl,
          `/v1/organization/visitors/${encodeURIComponent(visitor(index))}`,
          { method: 'DELETE', headers: { authorization: authorization('privacy') } },
        );
        expect([status, body.state]).toEqual([200, 'done']);
      });
    const backlog = Array.from({ length: 3_500 }, (_, index) =>
      recordAt(Date.now() - 60_000 - index, { domainId, visitorId: visitor(index), ip: '192.0.2.0', userAgent: 'x/1' }),
    );
    await persist(stack.db, backlog, { owe: true });
    const worker = await startWorkerProcess(env());

    const loop = createLoop(domainId);
    const runs: Awaited<ReturnType<typeof loop.run>>[] = [];
    const follow = async () => {
      while (!isOver) runs.push(await loop.run({ kill: runs.length % 2 === 0 }));
    };
    const visit = async () => {
      for (let index = 0; !isOver; index += 1) await record(index);
    };
    const busy = Promise.all([follow(), ...Array.from({ length: 4 }, visit)]);
    const copied = (count: number) =>
      eventually(() => expect(Object.keys(loop.copy().records).length).toBeGreaterThanOrEqual(count), {
        within: 30_000,
        every: 50,
      });

    await copied(1_000);
    await erase(0);
    notice = 'b'.repeat(64);
    await api.stop('SIGKILL');
    api = await startApiProcess(env());
    await copied(backlog.length + 100);
    await worker.stop('SIGKILL');
    await erase(1);
    await startWorkerProcess(env());
    await copied(acknowledged.size + backlog.length + 50);
    await erase(2);
    isOver = true;
    await busy;

    const records = await sealed(domainId, acknowledged.size + backlog.length);
    expect(runs.filter(({ signal }) => signal === 'SIGKILL').length).toBeGreaterThan(2);
    // whatever made a run fail, it was the API that was away
    expect(runs.filter(({ failed }) => failed && !/fetch failed|terminated/.test(failed))).toEqual([]);
    expect(await loop.run()).toEqual({ signal: null, failed: '' });
    const { size } = await get<Feed>(`/v1/consent/${domainId}/feed`);
    expect(loop.copy().at).toBe(`log=1&from=${size}`);
    expect(size).toBeGreaterThan(records.length);
    // of an erasure the feed does not tell the time
    const told = Object.values(loop.copy().records).map((each) => ({ ...each, erasedAt: null }));
    expect(told.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(records.map((each) => ({ ...each, erasedAt: null })));
    expect(new Set(records.map(({ visitorId }) => visitorId))).toEqual(new Set([null, visitor(3), visitor(4)]));
  }, 120_000);

  it('waits for a first record, and after a restart of the log goes on as the page says', async () => {
    const domainId = at(stack.tenant.domainIds, 1);
    const loop = createLoop(domainId);
    for (const _ of [1, 2]) expect(await loop.run()).toEqual({ signal: null, failed: '' });
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
    const { failed } = await loop.run();
    expect(failed).toContain('log 1 ended at 3; read the next one from 0');
    expect(readPage('docs/exports.md')).toContain('`log 1 ended at 1234; read the next one from 0`');
    loop.write({ ...loop.copy(), at: 'log=2&from=0' });
    expect(await loop.run()).toEqual({ signal: null, failed: '' });
    expect(Object.values(loop.copy().records)).toEqual(records);
  });
});
