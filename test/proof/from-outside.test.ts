import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { makeIdAt, monthOf } from '#libs/base/terms/calendar';
import type { OrgStats } from '#libs/log/contract';
import type { Consistency, ProofBundle } from '#libs/proof/contract';
import { restartLog } from '#libs/proof/seal/restart';
import { fromBase64, fromHex } from '#libs/proof/tree/bytes';
import { commitment } from '#libs/proof/tree/entry';
import { formatTlogProof } from '#libs/proof/tree/tlog-proof';
import { parseVerifierKey } from '#libs/proof/tree/verifier-key';
import { verifyConsistency } from '#libs/proof/tree/verify-proofs';
import type { FullRecord, NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { createPerform } from '#libs/tenants/audited-change';
import { createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { createLogReader, crypto, type LogAnswer, sha256 } from '../support/log-reader.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { verifyTlogProof } from '../support/proof-checks.ts';
import { recordAt } from '../support/records.ts';
import { runCliIn } from '../support/run-cli.ts';
import { createSealer, logName } from '../support/sealing.ts';
import { startApi } from '../support/service.ts';
import { at, startStack, storeRecords } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eraseVisitor } from '../support/tombstones.ts';

const now = Date.now();
const size = 560;

const json = <Body>({ text }: LogAnswer): Body => JSON.parse(text);
const bytesOf = (text: string): Uint8Array => fromBase64(text) ?? new Uint8Array();

/** of each checkpoint: its size and root, and as it was read */
const heads: { size: number; root: Uint8Array; note: string }[] = [];
const some = (count: number, domainId: string) =>
  Array.from({ length: count }, (_, each) =>
    recordAt(now - each * 31, {
      domainId,
      decision: 'custom',
      visitorId: `visitor ${each % 7}`,
      preferences: { analytics: each % 2 === 0, 10: true, 9: false },
      bannerVersion: '2.4.1',
      language: 'de',
      ip: '192.0.2.0',
      userAgent: 'Example/1.0 "quoted" ☂',
      pageUrl: 'https://shop.example/',
      metadata: { b: 'x', a: 1.5 },
      ...(each % 3 === 0 && { gpc: true }),
      ...(each % 5 === 0 && { bot: true }),
    }),
  );
const sealSome = async (count: number, domainId: string) => {
  const added = some(count, domainId);
  await persist(stack.db, added, { owe: true });
  await sealer.closeAndSeal();
  return added;
};

const stack = await startStack({ worker: false, tenant: { domains: 8 } });
const sealer = createSealer(stack.db, await openRedis(stack.redis.url));
const log = createLogReader(stack.api.baseUrl, stack.tenant.organizationId, stack.domainId);
const records: NewRecord[] = [];
for (const count of [1, 2, 253, 1, 300, 3]) {
  records.push(...(await sealSome(count, stack.domainId)));
  heads.push(await log.checkpoint());
}

describe('the sealed log, read and verified from outside', () => {
  const domain = (index: number) => at(stack.tenant.domainIds, index);
  const get = (domainId: string, path: string) => stack.client.get<ProblemAnswer>(`/v1/consent/${domainId}/${path}`);
  const readerOf = (domainId: string) => createLogReader(stack.api.baseUrl, stack.tenant.organizationId, domainId);
  const anyRecord = () => at(records, 400);

  it('its checkpoint is signed by its key, whose name is its origin', async () => {
    const checkpoint = await log.checkpoint();
    expect(checkpoint).toMatchObject({ size, origin: `${logName}/${stack.domainId}` });
    const { headers } = await log.ok('log/checkpoint');
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
      'text/plain; charset=utf-8',
      'no-store',
    ]);
    const signedAt = Date.parse(headers.get('last-modified') ?? '');
    expect([signedAt >= now - 1_000, signedAt <= Date.now()]).toEqual([true, true]);
    expect((await log.keys()).map(({ name }) => name)).toEqual([checkpoint.origin]);
    expect((await log.ok('log/key')).headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it('org-stats says 304 until a record gets its place, and again until its visitor is erased', async () => {
    const tenant = await makeTenant(stack.db);
    const ask = async (tag = '') => {
      const { status, headers, body } = await request<OrgStats>(stack.api.baseUrl, '/v1/consent/org-stats', {
        headers: { authorization: `Bearer ${tokenFor(tenant.organizationId)}`, 'if-none-match': tag },
      });
      return { status, tag: headers.get('etag') ?? expect.fail('no tag'), records: body.records };
    };
    const changed = async (tag: string, records: object[]) => {
      const found = await ask(tag);
      expect(found).toMatchObject({ status: 200, records });
      expect((await ask(found.tag)).status).toBe(304);
      return found.tag;
    };
    const store = () => storeRecords(stack, [recordAt(now, { domainId: at(tenant.domainIds, 0), visitorId: 'v' })]);
    await store();
    const stored = await changed('', [{ position: null, visitorId: 'v' }]);
    await sealer.closeAndSeal();
    const placed = await changed(stored, [{ position: 0, visitorId: 'v' }]);
    expect(await eraseVisitor(stack.api.baseUrl, tenant.organizationId, 'v')).toBe(200);
    const erased = await changed(placed, [{ position: 0, visitorId: null }]);
    // a late one keeps its visitor until its epoch is closed
    await store();
    const late = await changed(erased, expect.arrayContaining([expect.objectContaining({ visitorId: 'v' })]));
    await sealer.close();
    await sealer.blank();
    await changed(late, [{ visitorId: null }, { visitorId: null }]);
  });

  it('its tiles make the root that was signed, at every size that it had', async () => {
    expect(heads.map((head) => head.size)).toEqual([1, 3, 256, 257, 557, size]);
    const tiles = await log.tiles(size);
    expect([...tiles].map(([name, bytes]) => [name, bytes.length / 32])).toEqual([
      ['0/0', 256],
      ['0/1', 256],
      ['0/2', 48],
      ['1/0', 2],
    ]);
    for (const head of heads) expect(log.rootOf(head.size, tiles)).toEqual(Buffer.from(head.root));
  });

  it('its entries hash to its leaves, are all of its records, and hold nothing personal', async () => {
    const entries = await log.entries(size);
    const leaves = [...(await log.tiles(size))].flatMap(([name, bytes]) => (name.startsWith('0/') ? [bytes] : []));
    expect(Buffer.concat(entries.map(log.leafOf))).toEqual(Buffer.concat(leaves));
    const ids = entries.map((entry): string => JSON.parse(entry).id);
    expect([...ids].sort()).toEqual(records.map(({ id }) => id).sort());
    expect(entries.filter((entry) => /visitor \d|192\.0\.2|Example|shop\.example/.test(entry))).toEqual([]);
  });

  it('it only grew, by a proof between any two of its checkpoints', async () => {
    for (const from of heads) {
      for (const to of heads.filter((head) => head.size >= from.size)) {
        const response = await log.ok(`log/consistency?from=${from.size}&to=${to.size}`);
        const body = json<Consistency>(response);
        expect(body).toMatchObject({ log: 1, from: from.size, to: to.size });
        const proof = body.proof.map(bytesOf);
        const claim = { from: from.size, to: to.size, fromRoot: from.root, toRoot: to.root, proof };
        expect([from.size, to.size, verifyConsistency(sha256, claim)]).toEqual([from.size, to.size, true]);
      }
    }
  });

  it('the command line tells whether it only grew, by what it asks for or what was kept', async () => {
    const folder = mkdtempSync(path.join(inject('folder'), 'grown-'));
    const [older, newer] = [at(heads, 1), at(heads, -1)];
    const proof = (await log.ok(`log/consistency?from=${older.size}&to=${newer.size}`)).text;
    for (const [name, text] of Object.entries({ older: older.note, newer: newer.note, cut: 'x', proof }))
      writeFileSync(path.join(folder, name), text);
    const key = (await log.ok('log/key')).text.trim();
    const run = (...args: string[]) => runCliIn(folder, {}, 'log', 'verify-consistency', ...args, '--key', key);
    const tell = async (...args: string[]) => {
      const { code, stdout } = await run(...args, '--json');
      return { code, ...JSON.parse(stdout) };
    };
    const token = tokenFor(stack.tenant.organizationId);
    const asked = ['--api', stack.api.baseUrl, '--domain', stack.domainId, '--token', token];
    const holds = { code: 0, holds: true, log: `${logName}/${stack.domainId}`, from: older.size, to: newer.size };
    expect(await tell('older', 'newer', ...asked)).toEqual(holds);
    expect(await tell('older', 'newer', '--proof', 'proof')).toEqual(holds);
    expect(await tell('newer', 'newer')).toEqual({ ...holds, from: newer.size });
    const why = expect.stringContaining('older one first');
    expect(await tell('newer', 'older', ...asked)).toEqual({ code: 1, holds: false, why });
    const stderr = expect.stringMatching(/^cut is no continuation of older: The newer one: .*\n$/);
    expect(await run('older', 'cut')).toEqual({ code: 1, stdout: '', stderr });
  });

  it('who reads proofs, entries and the feed is noted; who reads hashes and checkpoints is not', async () => {
    const api = await startApi(stack.env);
    const authorization = `Bearer ${tokenFor(stack.tenant.organizationId, { sub: 'auditor' })}`;
    const read = async (path: string, accept = '*/*') => {
      const headers = { authorization, accept };
      const { status } = await request(api.baseUrl, `/v1/consent/${stack.domainId}/${path}`, { headers });
      expect([path, status]).toEqual([path, 200]);
    };
    const ofRecord = `records/${anyRecord().id}/proof`;
    await read(ofRecord, 'application/json');
    for (const path of [ofRecord, 'log/entries/0/proof', 'log/tile/entries/002.p/9', 'feed?limit=20']) await read(path);
    for (const path of ['checkpoint', 'key', 'tile/0/000', 'consistency?from=1&to=2']) await read(`log/${path}`);
    await api.stop();
    // two acts of a kind, where the round that writes them came in between
    const acts = await stack.sql<{ what: string; records: number }>`
      select details ->> 'what' as what, sum((details ->> 'records')::int)::int as records from visitor_acts
      where actor = 'auditor' and act = 'log.read' group by 1 order by 1`;
    expect([...acts]).toEqual([
      { what: 'entries', records: 9 },
      { what: 'feed', records: 20 },
      { what: 'proof', records: 3 },
    ]);
  });

  it('a record shows its place, and its proof verifies at that place, wherever it is', async () => {
    const entries = await log.entries(size);
    const keys = await log.keys();
    for (const position of [0, 1, 2, 255, 256, 257, 511, 512, 556, 557, size - 1]) {
      const recordId: string = JSON.parse(at(entries, position)).id;
      const record = json<FullRecord>(await log.ok(`records/${recordId}`));
      expect(record).toMatchObject({ id: recordId, domainId: stack.domainId, log: 1, position });
      const file = (await log.ok(`records/${recordId}/proof`)).text;
      expect(verifyTlogProof(file, keys, crypto)).toMatchObject({
        holds: true,
        entry: at(entries, position),
        index: position,
        size,
      });
    }
  });

  it('a bundle opens what its entry commits to, and its proof is that of the file', async () => {
    const { id } = anyRecord();
    const response = await log.ok(`records/${id}/proof`, 'application/json');
    expect(response.headers.get('vary')).toContain('Accept');
    const bundle = json<ProofBundle>(response);
    expect(Object.keys(bundle)).toEqual([
      ...['record', 'entry', 'opening', 'log', 'position', 'proof', 'checkpoint', 'verifierKeys', 'notice'],
      'timestamp',
    ]);
    expect(bundle).toMatchObject({ log: 1, notice: null, timestamp: null });
    expect(bundle.record).toEqual(json<FullRecord>(await log.ok(`records/${id}`)));
    const entry = JSON.parse(bundle.entry);
    for (const label of ['circumstances', 'private'] as const) {
      const opened = bundle.opening[label];
      const salt = fromHex(opened?.salt ?? '') ?? new Uint8Array();
      expect(salt).toHaveLength(16);
      expect(commitment(sha256, salt, opened?.text ?? '')).toBe(entry[label]);
    }
    expect(JSON.parse(bundle.opening.private?.text ?? '')).toMatchObject({ visitorId: anyRecord().visitorId });
    expect(JSON.parse(bundle.opening.circumstances.text)).toMatchObject({ bannerVersion: '2.4.1', language: 'de' });
    const file = formatTlogProof({
      entry: Buffer.from(bundle.entry),
      index: bundle.position,
      proof: bundle.proof.map(bytesOf),
      checkpoint: bundle.checkpoint,
    });
    expect(file).toBe((await log.ok(`records/${id}/proof`)).text);
    expect(`${bundle.verifierKeys.join('\n')}\n`).toBe((await log.ok('log/key')).text);
  });

  it('a proof is a file, or JSON for whom prefers that', async () => {
    for (const [accept, type] of [
      ['image/png', 'text/plain'],
      ['application/json, text/plain, */*', 'application/json'],
      ['text/plain;q=0.1, application/json', 'application/json'],
    ]) {
      const { headers } = await log.ok(`records/${anyRecord().id}/proof`, accept);
      expect([accept, headers.get('content-type')]).toEqual([accept, `${type}; charset=utf-8`]);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it('only a full hash tile of a log by its number may be kept for ever', async () => {
    const caching = async (path: string) => (await log.ok(`log/tile/${path}`)).headers.get('cache-control');
    for (const path of ['0/000?log=1', '0/001?log=1'])
      expect(await caching(path)).toBe('private, max-age=31536000, immutable');
    for (const path of ['0/000', '0/000.p/255?log=1', '1/000.p/2', 'entries/000'])
      expect(await caching(path)).toBe('no-store');
  });

  it('a partial tile is the beginning of what is there', async () => {
    const [tile, bundle] = [await log.ok('log/tile/0/002.p/48'), await log.ok('log/tile/entries/002.p/48')];
    expect(tile.headers.get('content-type')).toBe('application/octet-stream');
    for (const width of [1, 17, 47]) {
      expect((await log.ok(`log/tile/0/002.p/${width}`)).bytes).toEqual(tile.bytes.subarray(0, width * 32));
      const { bytes } = await log.ok(`log/tile/entries/002.p/${width}`);
      expect(bundle.bytes.subarray(0, bytes.length)).toEqual(bytes);
    }
  });

  it('a tile that the log does not have, or that is written in another way, does not exist', async () => {
    for (const path of [
      ...['0/002', '0/002.p/49', '0/003.p/1', '1/000', '1/001', '2/000.p/1', '63/000.p/1', 'entries/002'],
      ...['0/000.p/256', '0/000.p/0', '0/0', '', '0%2F000', '0/00%30', 'entries', 'entries/003.p/1', 'entries/%30'],
    ])
      expectProblem(await get(stack.domainId, `log/tile/${path}`), 404, 'not_found');
  });

  it.each<[string, ...string[]]>([
    ['from=0&to=1', '/from'],
    ['from=2&to=1', '/from'],
    [`from=1&to=${size + 1}`, '/to'],
  ])('consistency?%s is refused by name', async (query, ...blamed) => {
    expectBlame(await get(stack.domainId, `log/consistency?${query}`), ...blamed);
  });

  it.each([
    ...['log/checkpoint', 'log/key', 'log/tile/0/000', 'log/tile/entries/000', 'log/consistency?from=1&to=2'],
    ...['records/ID', 'records/ID/proof'],
  ])('%s takes the number of a log, and no other parameter', async (path) => {
    const given = path.replace('ID', anyRecord().id);
    const ask = (query: string) => get(stack.domainId, `${given}${given.includes('?') ? '&' : '?'}${query}`);
    expect((await ask('log=1')).status).toBe(200);
    for (const query of ['log=x', 'log=0', 'log=1&log=1']) expectBlame(await ask(query), '/log');
    expectBlame(await ask('size=1'), '/size');
    // where there is no such log, a record is sealed in another one
    expectProblem(await ask('log=2'), 404, path.startsWith('log/') ? 'not_found' : 'record_not_found');
  });

  it('an id that is none is refused, and an unknown one or that of another domain is not found', async () => {
    const [other] = await sealSome(1, domain(1));
    for (const rest of ['', '/proof']) {
      for (const id of ['x', '00000000-0000-0000-0000-000000000000'])
        expectBlame(await get(stack.domainId, `records/${id}${rest}`), '/recordId');
      for (const id of [makeIdAt(now), makeIdAt(0), other?.id])
        expectProblem(await get(stack.domainId, `records/${id}${rest}`), 404, 'record_not_found');
      expect((await get(domain(1), `records/${other?.id.toUpperCase()}${rest}`)).status).toBe(200);
    }
  });

  it('before anything is sealed there is no log, and a record has no place in it', async () => {
    const domainId = domain(2);
    const record = recordAt(now, { domainId });
    await persist(stack.db, [record], { owe: true });
    for (const path of ['checkpoint', 'key', 'tile/0/000', 'tile/entries/000.p/1', 'consistency?from=1&to=1']) {
      expectProblem(await get(domainId, `log/${path}`), 404, 'not_found');
    }
    expect((await get(domainId, `records/${record.id}`)).body).toMatchObject({ log: null, position: null });
    const early = await get(domainId, `records/${record.id}/proof`);
    expectProblem(early, 409, 'not_sealed_yet');
    expect(early.headers.get('retry-after')).toBe('60');
    await sealer.closeAndSeal();
    expect((await get(domainId, `records/${record.id}/proof`)).status).toBe(200);
    // the next one waits again, whatever log is asked for
    const next = recordAt(now, { domainId });
    await persist(stack.db, [next], { owe: true });
    for (const query of ['', '?log=1']) {
      expectProblem(await get(domainId, `records/${next.id}/proof${query}`), 409, 'not_sealed_yet');
    }
  });

  it('what has a position but no checkpoint yet is not shown', async () => {
    const domainId = domain(3);
    await sealSome(3, domainId);
    const [last] = await sealSome(1, domainId);
    // as between the two statements that store entries and publish
    await stack.sql`
        update logs set checkpoint_size = 3
        where domain_number = (select number from domains where id = ${domainId})`;
    expectProblem(await get(domainId, `records/${last?.id}/proof`), 409, 'not_sealed_yet');
    expect((await get(domainId, 'log/tile/0/000.p/3')).status).toBe(200);
    expectProblem(await get(domainId, 'log/tile/0/000.p/4'), 404, 'not_found');
    expectProblem(await get(domainId, 'log/tile/entries/000.p/4'), 404, 'not_found');
    expectBlame(await get(domainId, 'log/consistency?from=1&to=4'), '/to');
  });

  it('of a changed record nothing is served as proof, and the log says where it is', async () => {
    const domainId = domain(4);
    const added = await sealSome(5, domainId);
    const victim = at(added, 2);
    const { position } = json<FullRecord>(await readerOf(domainId).ok(`records/${victim.id}`));
    await stack.sql`update records set decision = 'accept_all' where id = ${victim.id}`;
    expectProblem(await get(domainId, `records/${victim.id}/proof`), 500, 'internal_error');
    expect(await stack.api.logged('entry_differs')).toMatchObject({ level: 'error', domainId, log: 1, position });
    expectProblem(await get(domainId, 'log/tile/entries/000.p/5'), 500, 'internal_error');
    for (const { id } of added.filter((each) => each !== victim)) {
      expect((await get(domainId, `records/${id}/proof`)).status).toBe(200);
    }
    // a missing one likewise
    await stack.sql`delete from records where id = ${victim.id}`;
    expectProblem(await get(domainId, 'log/tile/entries/000.p/5'), 500, 'internal_error');
    expect(stack.api.events('bug')).toEqual([]);
  });

  it('a changed hash makes no proof either', async () => {
    const domainId = domain(4);
    const [first, second] = await sealSome(2, domainId);
    await stack.sql`
        update log_runs set leaves = set_byte(leaves, 0, 255 - get_byte(leaves, 0))
        where domain_number = (select number from domains where id = ${domainId}) and first = 5`;
    expectProblem(await get(domainId, `records/${first?.id}/proof`), 500, 'internal_error');
    expectProblem(await get(domainId, `records/${second?.id}/proof`), 500, 'internal_error');
  });

  it('of a record that retention has dropped there is no proof; other entries and all hashes stay', async () => {
    const domainId = domain(5);
    const old = recordAt(now - 70 * 86_400_000, { domainId });
    const month = monthOf(now - 70 * 86_400_000);
    await sealSome(2, domainId);
    await stack.sql`select make_record_month(${month})`;
    await persist(stack.db, [old]);
    await sealer.closeAndSeal();
    await sealSome(254, domainId);
    const expectExpired = async (proof: [number, string]) => {
      for (const path of ['tile/entries/000', 'tile/entries/000.p/3', 'entries/2/proof'])
        expectProblem(await get(domainId, `log/${path}`), 410, 'expired');
      for (const path of ['tile/entries/000.p/2', 'tile/entries/001.p/1', 'entries/1/proof'])
        expect([path, (await get(domainId, `log/${path}`)).status]).toEqual([path, 200]);
      expectProblem(await get(domainId, `records/${old.id}`), 404, 'record_not_found');
      expectProblem(await get(domainId, `records/${old.id}/proof`), ...proof);
    };
    expect((await get(domainId, `records/${old.id}/proof`)).status).toBe(200);
    // as soon as its month is hidden
    await stack.sql`update record_months set dropped_at = now() where month = ${month}`;
    await expectExpired([410, 'expired']);
    const reader = readerOf(domainId);
    const { root } = await reader.checkpoint();
    expect(reader.rootOf(257, await reader.tiles(257))).toEqual(Buffer.from(root));
    // and also once ids and secrets are gone
    const zeros = "placing decode(repeat('00', 16), 'hex') from 33)";
    await stack.db.run((sql) =>
      sql.unsafe(`
        update log_runs set ids = overlay(ids ${zeros}, secrets = overlay(secrets ${zeros}
        where domain_number = (select number from domains where id = '${domainId}') and first = 0`),
    );
    await stack.sql`delete from records where id = ${old.id}`;
    await stack.sql`update record_months set dropped_at = null`;
    await expectExpired([404, 'record_not_found']);
    await stack.sql`update log_runs set ids = null, secrets = null where first = 256`;
    expectProblem(await get(domainId, 'log/tile/entries/001.p/1'), 410, 'expired');
  });

  it('under a plan without the log records, proofs and entries are refused; a monthly limit refuses nothing', async () => {
    const ungated = ['log/checkpoint', 'log/key', 'log/tile/0/000.p/3', 'log/consistency?from=1&to=2'];
    const gated = ['records/ID', 'records/ID/proof', 'log/tile/entries/000.p/3', 'log/entries/0/proof'];
    const underPlan = async (consentLog: boolean, monthlyRecordLimit: number | null) => {
      const tenant = await makeTenant(stack.db, { consentLog, monthlyRecordLimit });
      const domainId = at(tenant.domainIds, 0);
      const [first] = await sealSome(3, domainId);
      const client = createClient(stack.api.baseUrl, tenant);
      return (path: string) =>
        client.get<ProblemAnswer>(`/v1/consent/${domainId}/${path.replace('ID', first?.id ?? '')}`);
    };
    const withoutLog = await underPlan(false, null);
    // parameters come first, then the plan, then the thing itself
    for (const path of gated) expectBlame(await withoutLog(`${path}?x=1`), '/x');
    for (const path of [...gated, `records/${makeIdAt(now)}`, 'log/tile/entries/999'])
      expectProblem(await withoutLog(path), 403, 'plan_feature_required');
    for (const path of ungated) expect([path, (await withoutLog(path)).status]).toEqual([path, 200]);
    // of the three, one is by a crawler
    const atLimit = await underPlan(true, 2);
    expect((await atLimit('records')).body).toMatchObject({ capped: true });
    for (const path of [...gated, ...ungated, 'feed', 'export'])
      expect([path, (await atLimit(path)).status]).toEqual([path, 200]);
  });

  it('after a restart both logs can be read by their numbers, and a record proves itself in its own', async () => {
    const domainId = domain(6);
    const [first] = await sealSome(3, domainId);
    await restartLog(createPerform(stack.db, 'test'), domainId, async (ended) => ({
      log: ended + 1,
      origin: `${logName}/${domainId}/${ended + 1}`,
    }));
    const reader = readerOf(domainId);
    // until the second has a checkpoint, the first is the newest
    expect(await reader.checkpoint()).toMatchObject({ size: 3 });
    const [second] = await sealSome(2, domainId);
    expect(await reader.checkpoint()).toMatchObject({ size: 2, origin: `${logName}/${domainId}/2` });
    expect((await reader.ok('log/checkpoint?log=1')).text).toContain(`${logName}/${domainId}\n3\n`);
    expect((await reader.ok('log/key?log=1')).text).not.toBe((await reader.ok('log/key')).text);
    expect((await reader.ok('log/tile/0/000.p/3?log=1')).bytes).toHaveLength(96);
    expectProblem(await get(domainId, 'log/tile/0/000.p/3'), 404, 'not_found');
    for (const [record, log, other] of [
      [first, 1, 2],
      [second, 2, 1],
    ] as const) {
      expect((await get(domainId, `records/${record?.id}`)).body).toMatchObject({ log });
      for (const query of ['', `?log=${log}`]) {
        const proof = (await reader.ok(`records/${record?.id}/proof${query}`)).text;
        const keys = (await reader.ok(`log/key?log=${log}`)).text.trim();
        expect(verifyTlogProof(proof, [parseVerifierKey(sha256, keys)], crypto)).toMatchObject({ holds: true });
      }
      expectProblem(await get(domainId, `records/${record?.id}/proof?log=${other}`), 404, 'record_not_found');
      expectProblem(await get(domainId, `records/${record?.id}?log=${other}`), 404, 'record_not_found');
    }
  });

  it('a log keeps every key that signed it, newest first, and old proofs verify with the old one', async () => {
    const domainId = domain(7);
    const [record] = await sealSome(1, domainId);
    const reader = readerOf(domainId);
    const before = await reader.keys();
    const proof = (await reader.ok(`records/${record?.id}/proof`)).text;
    const rotated = createSealer(stack.db, await openRedis(stack.redis.url));
    await rotated.closeAndSeal();
    const after = await reader.keys();
    expect(after.slice(1)).toEqual(before);
    expect(verifyTlogProof(proof, before, crypto)).toMatchObject({ holds: true });
    const newProof = (await reader.ok(`records/${record?.id}/proof`)).text;
    expect(verifyTlogProof(newProof, [at(after, 0)], crypto)).toMatchObject({ holds: true });
    expect(verifyTlogProof(newProof, before, crypto)).toMatchObject({ holds: false });
  });
});
